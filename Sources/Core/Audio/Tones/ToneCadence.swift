/// A tone of a telephone network: a repeated sequence of sounds and pauses (ITU-T E.180/Q.35 and its Supplement 2).
package struct ToneCadence: Equatable, Sendable {
    /// A sound or a pause of the sequence.
    package struct Element: Equatable, Sendable {
        /// The frequencies that sound together, in hertz; a pause has none.
        package var frequencies: [Double]
        /// How long the element lasts.
        package var duration: Duration

        /// Makes an element of its parts.
        package init(_ frequencies: [Double], _ duration: Duration) {
            self.frequencies = frequencies
            self.duration = duration
        }
    }

    /// The country or recommendation that defines the tones (ITU-T E.180 Supplement 2). The raw values are those of the
    /// setting `media.tones`.
    package enum Region: String, Equatable, Sendable, CaseIterable {
        /// The tones that ITU-T E.180 recommends.
        case itu
        /// North America, by the Precise Tone Plan.
        case us
        /// Australia, Germany, France, Japan and the United Kingdom.
        case au, de, fr, jp, uk
    }

    /// The meaning of a tone.
    package enum Kind: Sendable, CaseIterable {
        /// Ringback, busy and congestion tone, dial tone, call waiting tone, and special information tone.
        case ringback, busy, congestion, dial, callWaiting, specialInformation
    }

    /// The elements in their order, at least one; after the last one the sequence starts again.
    package let elements: [Element]

    /// The tone of a kind in a region. The special information tone is the same in all regions.
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
