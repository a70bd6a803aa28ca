import Audio
import MediaPlane
import MediaServer
import Primitives
import RTP
import SDP
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

    @Test func `a leg that leaves takes its pressed digit along, and what it has told is told`() {
        var digits = HeardDigits()
        digits.note(.started("3", length: 480, isEnd: true), of: leg)
        digits.note(.started("4", length: 960, isEnd: false), of: leg)
        digits.note(.started("5", length: 960, isEnd: false), of: LegIndex(2))
        digits.forget(leg)
        digits.note(.ended(length: 1_920), of: leg)
        for _ in 0..<16 { digits.pass() }
        #expect(digits.take().map(\.digit) == ["3", "5"])
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

    // MARK: In the engine

    /// Digits that a presses, 200 ms each: in telephone events, or in its G.711 audio if it knows none.
    private static func pressed(_ digits: String, by codecs: [Codec], isHeard: Bool = true) -> [HeardDigits.Digit] {
        var rig = EngineRig(a: codecs, b: [.pcmu])
        if isHeard { rig.listen(PlayingVoice(nil)) }
        var heard: [HeardDigits.Digit] = []
        let events = codecs.first(where: \.isTelephoneEvent)
        var timestamp: UInt32 = 0
        for digit in digits {
            var queue = DigitQueue(String(digit), duration: .milliseconds(200), gap: .milliseconds(200))
            for cycle in 0..<20 {
                if let events, cycle < 13 {
                    let (isEnd, length) = (cycle >= 10, min(cycle + 1, 10) * 160)
                    let event = TelephoneEvent(digit: digit, isEnd: isEnd, duration: UInt16(length))
                    var payload = [UInt8](repeating: 0, count: TelephoneEvent.size)
                    var span = payload.mutableSpan
                    event.write(to: &span)
                    rig.receive(
                        payload, payloadType: Int(events.payloadType.rawValue), timestamp: timestamp,
                        marker: cycle == 0)
                } else if events == nil {
                    var frame = [Int16](repeating: 0, count: 960)
                    var span = frame.mutableSpan
                    if case .event(let step) = queue.next() { step.sound(into: &span) }
                    let samples = stride(from: 0, to: 960, by: 6).map { G711.muLaw.encode(frame[$0]) }
                    rig.receive(samples, payloadType: 0, timestamp: timestamp + UInt32(cycle * 160))
                }
                rig.runCycle()
                heard += rig.engine.takeHeardDigits()
            }
            timestamp += 20 * 160
        }
        for _ in 0..<20 {
            rig.runCycle()
            heard += rig.engine.takeHeardDigits()
        }
        return heard
    }

    @Test func `telephone events are heard with their length`() {
        let heard = Self.pressed("12#", by: [.pcmu, .events8])
        #expect(heard.map(\.digit) == ["1", "2", "#"])
        #expect(heard.allSatisfy { $0.length == 9_600 && $0.leg == EngineRig.a }, "200 ms each: \(heard)")
    }

    @Test func `digits in the audio are heard wherever a headless leg hears, without a length`() {
        let heard = Self.pressed("42*", by: [.pcmu])
        #expect(heard.map(\.digit) == ["4", "2", "*"])
        #expect(heard.allSatisfy { $0.length == nil })
    }

    @Test func `a key that was down when its leg left is not told of the next leg in its place`() {
        for stays in [false, true] {
            var rig = EngineRig(mixing: [[.pcmu, .events8], [.pcmu, .events8]])
            rig.listen(PlayingVoice(nil), to: .mix)
            var payload = [UInt8](repeating: 0, count: TelephoneEvent.size)
            var span = payload.mutableSpan
            TelephoneEvent(digit: "7", isEnd: false, duration: 160).write(to: &span)
            rig.receive(payload, payloadType: 101, timestamp: 0, marker: true)
            if !stays {
                rig.leave(EngineRig.a)
                rig.join([.pcmu, .events8])
            }
            var heard: [HeardDigits.Digit] = []
            for _ in 0..<30 {
                rig.runCycle()
                heard += rig.engine.takeHeardDigits()
            }
            #expect(heard.map(\.digit) == (stays ? ["7"] : []), "its release was never heard")
        }
    }

    @Test func `where no headless leg hears nothing is kept`() {
        #expect(Self.pressed("12", by: [.pcmu, .events8], isHeard: false).isEmpty)
    }
}
