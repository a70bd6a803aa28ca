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
    }

    package enum Kind: Sendable, CaseIterable {
        case ringback, busy, congestion, dial, callWaiting, specialInformation
    }

    package let elements: [Element]

    package init(_ kind: Kind, in region: Region) {
        func burst(_ frequencies: [Double], _ on: Int, _ off: Int) -> [Element] { [Element(frequencies, on), Element([], off)] }
        elements =
            switch (kind, region) {
            case (.ringback, .itu): burst([425], 1_000, 4_000)
            case (.ringback, .us): burst([440, 480], 2_000, 4_000)
            case (.busy, .itu): burst([425], 500, 500)
            case (.busy, .us): burst([480, 620], 500, 500)
            case (.congestion, .itu): burst([425], 250, 250)
            case (.congestion, .us): burst([480, 620], 250, 250)
            case (.dial, .itu): [Element([425], 1_000)]
            case (.dial, .us): [Element([350, 440], 1_000)]
            case (.callWaiting, .itu): burst([425], 200, 600) + burst([425], 200, 3_000)
            case (.callWaiting, .us): burst([440], 300, 9_700)
            // E.180 §7: three tones in a row.
            case (.specialInformation, _): [Element([950], 330), Element([1_400], 330), Element([1_800], 330), Element([], 1_000)]
            }
    }
}
