/// The tones of a region: hertz, then milliseconds, in which sound and silence alternate (ITU-T E.180 Supplement 2,
/// 01/94; for North America the Precise Tone Plan, for `itu` the recommendation of E.180/Q.35).
///
/// A tone that is modulated by another one is written as its two side tones: 400 × 16 Hz is 384 and 416 Hz.
struct TonePlan {
    var dial: [ToneCadence.Element]
    var ringback: [ToneCadence.Element]
    var busy: [ToneCadence.Element]
    var congestion: [ToneCadence.Element]
    var callWaiting: [ToneCadence.Element]

    private init(
        dial: [Double], ringback: ([Double], [Int]), busy: ([Double], [Int]), congestion: ([Double], [Int]),
        waiting: ([Double], [Int])
    ) {
        self.dial = [ToneCadence.Element(dial, .seconds(1))]
        self.ringback = Self.elements(ringback)
        self.busy = Self.elements(busy)
        self.congestion = Self.elements(congestion)
        callWaiting = Self.elements(waiting)
    }

    private static func elements(_ tone: (frequencies: [Double], milliseconds: [Int])) -> [ToneCadence.Element] {
        tone.milliseconds.enumerated().map {
            ToneCadence.Element($0.offset % 2 == 0 ? tone.frequencies : [], .milliseconds($0.element))
        }
    }

    /// Three tones in a row, the same in all regions (ITU-T E.180 §7).
    static let specialInformation =
        [950.0, 1_400, 1_800].map { ToneCadence.Element([$0], .milliseconds(330)) } + [
            ToneCadence.Element([], .seconds(1))
        ]

    static func of(_ region: ToneCadence.Region) -> TonePlan {
        switch region {
        case .itu:
            TonePlan(
                dial: [425], ringback: ([425], [1_000, 4_000]), busy: ([425], [500, 500]),
                congestion: ([425], [250, 250]),
                waiting: ([425], [200, 600, 200, 3_000]))
        case .us:
            TonePlan(
                dial: [350, 440], ringback: ([440, 480], [2_000, 4_000]), busy: ([480, 620], [500, 500]),
                congestion: ([480, 620], [250, 250]),
                waiting: ([440], [300, 9_700]))
        case .au:
            TonePlan(
                dial: [412.5, 437.5], ringback: ([412.5, 437.5], [400, 200, 400, 2_000]), busy: ([425], [375, 375]),
                congestion: ([425], [375, 375]), waiting: ([425], [200, 200, 200, 4_400]))
        case .de:
            TonePlan(
                dial: [425], ringback: ([425], [1_000, 4_000]), busy: ([425], [480, 480]),
                congestion: ([425], [240, 240]),
                waiting: ([425], [200, 200, 200, 5_000]))
        case .fr:
            TonePlan(
                dial: [440], ringback: ([440], [1_500, 3_500]), busy: ([440], [500, 500]),
                congestion: ([440], [250, 250]),
                waiting: ([440], [300, 10_000]))
        case .jp:
            TonePlan(
                dial: [400], ringback: ([384, 416], [1_000, 2_000]), busy: ([400], [500, 500]),
                congestion: ([400], [500, 500]),
                waiting: ([384, 416], [500, 8_000]))
        case .uk:
            TonePlan(
                dial: [350, 440], ringback: ([400, 450], [400, 200, 400, 2_000]), busy: ([400], [375, 375]),
                congestion: ([400], [400, 350, 225, 525]), waiting: ([400], [100, 2_500]))
        }
    }
}
