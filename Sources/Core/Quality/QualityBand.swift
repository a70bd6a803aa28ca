/// Mean opinion scores in words. A band has no hysteresis: the same score is always in the same band.
package enum QualityBand: Sendable, CaseIterable {
    /// From best to worst.
    case excellent, good, fair, poor, bad

    /// The band of a score: `excellent` from 4.2 on, `good` from 4.1, `fair` from 3.7, `poor` from 3.1, `bad` below.
    package init(mos: Double) {
        self =
            switch mos {
            case 4.2...: .excellent
            case 4.1...: .good
            case 3.7...: .fair
            case 3.1...: .poor
            default: .bad
            }
    }
}
