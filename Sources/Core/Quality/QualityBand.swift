/// Opinion scores in words. A band has no memory: the same score is always in the same one.
package enum QualityBand: String, Sendable, CaseIterable {
    case excellent, good, fair, poor, bad

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
