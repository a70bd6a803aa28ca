/// A tone of a telephone network: what sounds for how long, again and again (ITU-T E.180/Q.35 and its Supplement 2).
package struct ToneCadence: Equatable, Sendable {
    package struct Element: Equatable, Sendable {
        /// Hertz, sounding together; none is a pause.
        package var frequencies: [Double]
        package var milliseconds: Int

        package init(_ frequencies: [Double], _ milliseconds: Int) {
            self.frequencies = frequencies
            self.milliseconds = milliseconds
        }
    }

    package enum Region: String, Sendable, CaseIterable {
        /// What ITU-T E.180 recommends.
        case itu
        /// The Precise Tone Plan of North America.
        case us
        case au, de, fr, jp, uk
    }

    package enum Kind: Sendable, CaseIterable {
        case ringback, busy, congestion, dial, callWaiting, specialInformation
    }

    package let elements: [Element]

    package init(_ kind: Kind, in region: Region) {
        let plan = TonePlan.of(region)
        elements =
            switch kind {
            case .ringback: plan.ringback
            case .busy: plan.busy
            case .congestion: plan.congestion
            case .dial: plan.dial
            case .callWaiting: plan.callWaiting
            case .specialInformation: TonePlan.specialInformation
            }
    }
}
