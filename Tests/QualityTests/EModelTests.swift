import Quality
import Testing

struct EModelTests {
    @Test func `nothing in the way gives the default rating of G.107`() {
        let best = EModel(.g711, delay: 0, loss: 0)
        #expect(best.rating == 93.2)
        // G.107: R = 93.2 is a score of 4.41.
        #expect(abs(best.mos - 4.41) < 0.005)
        #expect(best.band == .excellent)
    }

    @Test(arguments: [(100.0, 4.5), (93.2, 4.41), (90, 4.34), (80, 4.03), (70, 3.60), (60, 3.10), (50, 2.58), (0, 1)] as [(Double, Double)])
    func `ratings turn into scores as in G.107 Annex B`(_ rating: Double, _ mos: Double) {
        // A codec whose impairment alone brings the rating where it is wanted.
        guard rating <= 93.2 else { return }
        let model = EModel(EModel.Codec(impairment: 93.2 - rating, robustness: 10), delay: 0, loss: 0)
        #expect(abs(model.mos - mos) < 0.02)
    }

    @Test func `more delay, more loss and burstier loss are never better`() {
        for codec in [EModel.Codec.g711, .opus] {
            var last = 100.0
            for delay in stride(from: 0.0, through: 600, by: 20) {
                let rating = EModel(codec, delay: delay, loss: 0.01).rating
                #expect(rating <= last)
                last = rating
            }
            last = 100
            for loss in stride(from: 0.0, through: 1, by: 0.02) {
                let rating = EModel(codec, delay: 50, loss: loss).rating
                #expect(rating <= last)
                #expect(EModel(codec, delay: 50, loss: loss, burstRatio: 2).rating <= rating)
                last = rating
            }
        }
    }

    @Test(arguments: [(4.3, QualityBand.excellent), (4.2, .excellent), (4.15, .good), (3.9, .fair), (3.7, .fair), (3.5, .poor), (3.0, .bad)])
    func `bands`(_ mos: Double, _ band: QualityBand) {
        #expect(QualityBand(mos: mos) == band)
    }
}
