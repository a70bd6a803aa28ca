import Quality
import Testing

struct EModelTests {
    @Test func `nothing in the way gives the default rating of G.107`() {
        let best = EModel(.g711, delay: .milliseconds(0), loss: 0)
        #expect(abs(best.rating - 93.2) < 0.05)
        // G.107: R = 93.2 is a score of 4.41.
        #expect(abs(best.mos - 4.41) < 0.005)
        #expect(best.band == .excellent)
    }

    /// G.107 table B.1, from very satisfied (90) to nearly all dissatisfied (50), and the ends of the curve.
    @Test(
        arguments: [
            (-5.0, 1), (0, 1), (6, 1), (50, 2.58), (60, 3.10), (70, 3.60), (80, 4.03), (90, 4.34), (93.2, 4.41),
            (100, 4.5), (110, 4.5),
        ] as [(Double, Double)])
    func `ratings turn into scores as in G.107 Annex B`(_ rating: Double, _ mos: Double) {
        #expect(abs(EModel.mos(rating: rating) - mos) < 0.01)
    }

    @Test func `scores grow with ratings`() {
        var last = 0.0
        for rating in stride(from: -10.0, through: 130, by: 0.25) {
            let mos = EModel.mos(rating: rating)
            #expect(mos >= last && (1...4.5).contains(mos))
            last = mos
        }
    }

    /// By hand after §7.5: 95 · Ppl / (Ppl / BurstR + Bpl).
    @Test(
        arguments: [
            (EModel.Codec.g711, 0.01, 1.0, 95 / 26.1),
            (.g711, 0.05, 1, 475 / 30.1),
            (.g711, 0.05, 2, 475 / 27.6),
            (.g711WithoutConcealment, 0.01, 1, 95 / 5.3),
            (.g722(), 0.02, 1, 13 + 82 * 2 / 27.1),
            // Burst ratios below 1 are taken for random losses, shares outside 0…1 for their bounds.
            (.g711, 0.05, 0.5, 475 / 30.1),
            (.g711, -0.1, 1, 0),
        ] as [(EModel.Codec, Double, Double, Double)])
    func `losses cost what G.107 says`(
        _ codec: EModel.Codec, _ loss: Double, _ burstRatio: Double, _ impairment: Double
    ) {
        let lossless = EModel(
            EModel.Codec(scale: codec.scale, impairment: 0, robustness: 1), delay: .milliseconds(50), loss: 0)
        let rated = EModel(codec, delay: .milliseconds(50), loss: loss, burstRatio: burstRatio)
        #expect(abs(lossless.rating - rated.rating - impairment) < 1e-6)
    }

    @Test(arguments: [EModel.Codec.g711, .g711WithoutConcealment, .g722(), .opus(), .opus(bitsPerSecond: 12_000)])
    func `more delay, more loss and burstier loss are never better`(_ codec: EModel.Codec) {
        var last = Double.infinity
        for delay in stride(from: 0, through: 1_000, by: 10) {
            let rating = EModel(codec, delay: .milliseconds(delay), loss: 0.01).rating
            // Leaving echo's first millisecond aside, where Ist has a ripple of a thousandth.
            #expect(rating <= last + 0.001)
            last = rating
        }
        last = .infinity
        for loss in stride(from: 0.0, through: 1, by: 0.02) {
            let rating = EModel(codec, delay: .milliseconds(50), loss: loss).rating
            #expect(rating <= last && rating >= 0)
            #expect(EModel(codec, delay: .milliseconds(50), loss: loss, burstRatio: 2).rating <= rating)
            last = rating
        }
    }

    @Test(arguments: [
        ("opus", 0.0, EModel.Scale.wideband), ("OPUS", 0, .wideband), ("PCMU", 0, .narrowband),
        ("pcma", 0, .narrowband), ("G722", 13, .wideband),
    ])
    func `codecs are known by encoding name`(_ name: String, _ impairment: Double, _ scale: EModel.Scale) throws {
        let codec = try #require(EModel.Codec(named: name))
        #expect(codec.impairment == impairment)
        #expect(codec.scale == scale)
    }

    @Test func `unknown codecs are not rated`() {
        #expect(EModel.Codec(named: "telephone-event") == nil)
    }

    @Test(arguments: [(6_000, 10.0), (12_000, 10), (22_000, 5), (32_000, 0), (510_000, 0)])
    func `Opus costs less at higher rates`(_ rate: Int, _ impairment: Double) {
        #expect(EModel.Codec.opus(bitsPerSecond: rate).impairment == impairment)
        #expect(
            EModel.Codec.opus(bitsPerSecond: rate, hasUncountedRecovery: true).robustness
                > EModel.Codec.opus(bitsPerSecond: rate, hasUncountedRecovery: false).robustness)
    }

    /// G.113 Appendix IV.
    @Test(arguments: [(64_000, 13.0), (56_000, 20), (48_000, 31)])
    func `G.722 costs what G.113 says`(_ rate: Int, _ impairment: Double) {
        #expect(EModel.Codec.g722(bitsPerSecond: rate).impairment == impairment)
    }

    @Test func `a wideband call without losses is as good as calls get`() {
        let opus = EModel(.opus(), delay: .milliseconds(60), loss: 0)
        #expect(opus.rating > 120 && opus.rating < 129)
        #expect(opus.mos > 4.45 && opus.band == .excellent)
        // 116 of 129.
        #expect(abs(EModel(.g722(), delay: .milliseconds(0), loss: 0).mos - 4.34) < 0.01)
    }

    @Test(arguments: [
        (4.5, QualityBand.excellent), (4.2, .excellent), (4.199, .good), (4.1, .good), (4.099, .fair), (3.7, .fair),
        (3.699, .poor), (3.1, .poor),
        (3.099, .bad), (1, .bad),
    ])
    func `scores fall into bands`(_ mos: Double, _ band: QualityBand) {
        #expect(QualityBand(mos: mos) == band)
    }
}

extension EModel.Codec {
    /// G.711 with silence in place of lost packets: Ie 0, Bpl 4.3 (G.113 Appendix I). The gateway conceals losses.
    fileprivate static let g711WithoutConcealment = EModel.Codec(impairment: 0, robustness: 4.3)
}
