import Audio
import MediaPlane
import MediaServer
import Testing

/// Digits that peers press, each told once.
struct HeardDigitsTests {
    private let leg = LegIndex(1)

    @Test func `a digit is told when it is released, with its length`() {
        var digits = HeardDigits()
        digits.note(.started("5", length: 960, isEnd: false), of: leg)
        digits.note(.lasts(length: 1_920), of: leg)
        #expect(digits.take().isEmpty)
        digits.note(.ended(length: 4_800), of: leg)
        #expect(digits.take() == [HeardDigits.Digit(leg: leg, digit: "5", length: 4_800)])
        #expect(digits.take().isEmpty)
    }

    @Test func `a digit whose end is lost is told when the next one starts, or after a while`() {
        var digits = HeardDigits()
        digits.note(.started("1", length: 960, isEnd: false), of: leg)
        digits.note(.started("2", length: 960, isEnd: false), of: leg)
        #expect(digits.take().map(\.digit) == ["1"])
        for _ in 0..<15 { digits.pass() }
        #expect(digits.take().isEmpty)
        digits.pass()
        #expect(digits.take().map(\.digit) == ["2"])
        // Its end comes after all.
        digits.note(.ended(length: 960), of: leg)
        #expect(digits.take().isEmpty)
    }

    @Test func `a digit of one packet, and one found in the audio`() {
        var digits = HeardDigits()
        digits.note(.started("#", length: 480, isEnd: true), of: leg)
        digits.detected("*", of: LegIndex(2))
        #expect(
            digits.take() == [
                HeardDigits.Digit(leg: leg, digit: "#", length: 480),
                HeardDigits.Digit(leg: LegIndex(2), digit: "*", length: nil),
            ])
    }
}
