import Foundation
import Quality
import Testing

struct TransmissionParametersTests {
    /// The parts of the default rating, as G.107 has them: Ro = 94.77, Is = 1.41, R = 93.2.
    @Test func `defaults give what is known of them`() {
        let line = TransmissionParameters()
        #expect(abs(line.basicRatio - 94.77) < 0.005)
        #expect(abs(line.simultaneousImpairment() - 1.41) < 0.005)
        #expect(abs(line.basicRatio - line.simultaneousImpairment() - line.delayImpairment(0) - 93.2) < 0.01)
    }

    /// Ta in milliseconds and Id, worked out apart from this code after §7.4 with TELR 65 and WEPL 110.
    @Test(arguments: [
        (0.0, 0.1490), (20, 0.8240), (50, 1.5990), (100, 2.6915), (150, 3.8160), (200, 7.5505), (250, 14.1782),
        (300, 20.6890), (400, 31.1084),
        (500, 38.5521),
    ])
    func `delay costs what G.107 says`(_ delay: Double, _ impairment: Double) {
        #expect(abs(TransmissionParameters().delayImpairment(delay) - impairment) < 0.001)
    }

    @Test func `negative delays are none`() {
        #expect(TransmissionParameters().delayImpairment(-5) == TransmissionParameters().delayImpairment(0))
    }

    /// Idd alone, where no echo is left: 25 · {(1 + X⁶)^⅙ − 3 (1 + (X/3)⁶)^⅙ + 2} with X = log₂(Ta / 100). Idte then
    /// goes to −1.
    @Test func `without echo only long delays cost`() {
        var line = TransmissionParameters()
        line.talkerEchoLoudness = 200
        line.weightedEchoPathLoss = 1_000
        #expect(abs(line.delayImpairment(100)) < 1)
        let x = log2(4.0)
        let interaction = 25 * (pow(1 + pow(x, 6), 1 / 6) - 3 * pow(1 + pow(x / 3, 6), 1 / 6) + 2)
        #expect(abs(line.delayImpairment(400) - interaction) < 1)
    }

    @Test func `louder echo, more noise and more conversions are worse`() {
        let line = TransmissionParameters()
        func rating(_ change: (inout TransmissionParameters) -> Void) -> Double {
            var changed = line
            change(&changed)
            return EModel(.g711, delay: .milliseconds(100), loss: 0, parameters: changed).rating
        }
        let normal = rating { _ in }
        #expect(rating { $0.talkerEchoLoudness = 40 } < normal - 10)
        #expect(rating { $0.circuitNoise = -50 } < normal - 5)
        #expect(rating { $0.sendRoomNoise = 60 } < normal)
        #expect(rating { $0.quantizingUnits = 14 } < normal - 5)
        #expect(rating { $0.sendLoudness = 18 } < normal)
        // G.107 table 3: up to 10 for who walks about with a telephone.
        #expect(rating { $0.advantage = 5 } > normal + 4.9)
    }
}
