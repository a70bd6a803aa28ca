import Audio
import MediaPlane
import MediaServer
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// Digits that peers press, each told once.
struct HeardDigitsTests {
    private let leg = LegIndex(1)
    private let now = VirtualClock().now

    @Test func `a digit is told when it is released, with its length`() {
        var digits = HeardDigits()
        digits.note(.started("5", length: 960, isEnd: false), of: leg, at: now)
        digits.note(.lasts(length: 1_920), of: leg, at: now)
        #expect(digits.take().isEmpty)
        digits.note(.ended(length: 4_800), of: leg, at: now)
        #expect(digits.take() == [HeardDigits.Digit(leg: leg, digit: "5", length: 4_800)])
        #expect(digits.take().isEmpty)
        #expect(digits.nextDeadline == nil)
    }

    @Test func `a digit whose end is lost is told when the next one starts, or after a while`() {
        var digits = HeardDigits()
        digits.note(.started("1", length: 960, isEnd: false), of: leg, at: now)
        digits.note(.started("2", length: 960, isEnd: false), of: leg, at: now)
        #expect(digits.take().map(\.digit) == ["1"])
        let due = now + HeardDigits.patience
        #expect(digits.nextDeadline == due)
        digits.timeout(at: due - .nanoseconds(1))
        #expect(digits.take().isEmpty)
        digits.timeout(at: due)
        #expect(digits.take().map(\.digit) == ["2"])
        // Its end comes after all.
        digits.note(.ended(length: 960), of: leg, at: due)
        #expect(digits.take().isEmpty)
        #expect(digits.nextDeadline == nil)
    }

    @Test func `a digit that is held down is waited for anew with each of its packets`() {
        var digits = HeardDigits()
        digits.note(.started("1", length: 960, isEnd: false), of: leg, at: now)
        let later = now + HeardDigits.patience - .milliseconds(1)
        digits.note(.lasts(length: 15_000), of: leg, at: later)
        digits.timeout(at: now + HeardDigits.patience)
        #expect(digits.take().isEmpty)
        digits.timeout(at: later + HeardDigits.patience)
        #expect(digits.take() == [HeardDigits.Digit(leg: leg, digit: "1", length: 15_000)])
    }

    @Test func `a leg that leaves takes its pressed digit along, and what it has told is told`() {
        var digits = HeardDigits()
        digits.note(.started("3", length: 480, isEnd: true), of: leg, at: now)
        digits.note(.started("4", length: 960, isEnd: false), of: leg, at: now)
        digits.note(.started("5", length: 960, isEnd: false), of: LegIndex(2), at: now)
        digits.forget(leg)
        digits.note(.ended(length: 1_920), of: leg, at: now)
        digits.timeout(at: now + HeardDigits.patience)
        #expect(digits.take().map(\.digit) == ["3", "5"])
    }

    @Test func `a digit of one packet, and one found in the audio`() {
        var digits = HeardDigits()
        digits.note(.started("#", length: 480, isEnd: true), of: leg, at: now)
        digits.detected("*", of: LegIndex(2), at: now)
        #expect(
            digits.take() == [
                HeardDigits.Digit(leg: leg, digit: "#", length: 480),
                HeardDigits.Digit(leg: LegIndex(2), digit: "*", length: nil),
            ])
    }

    @Test func `a flood of digits is told up to a limit for each peer, and counted beyond (RFC 4733 §6)`() {
        var digits = HeardDigits()
        for _ in 0..<1_000 { digits.note(.started("5", length: 480, isEnd: true), of: leg, at: now) }
        #expect(digits.take().count == HeardDigits.limit.burst)
        #expect(digits.takeDropped() == 1_000 - HeardDigits.limit.burst)
        #expect(digits.takeDropped() == 0)
        digits.note(.started("6", length: 480, isEnd: true), of: LegIndex(2), at: now)
        #expect(digits.take().map(\.digit) == ["6"], "the other peer has a limit of its own")
        // A minute of it, a digit every 10 ms.
        for step in 1...6_000 {
            digits.note(.started("7", length: 480, isEnd: true), of: leg, at: now + Duration.milliseconds(10) * step)
        }
        #expect(digits.take().count == 240, "four a second")
        #expect(digits.takeDropped() == 6_000 - 240)
    }

    @Test func `as many digits as a request may have are told, however fast they are pressed`() {
        var digits = HeardDigits()
        for step in 0..<128 {
            digits.note(.started("8", length: 1_920, isEnd: true), of: leg, at: now + Duration.milliseconds(80) * step)
        }
        #expect(digits.take().count == 128)
        #expect(digits.takeDropped() == 0)
    }

    // MARK: In a call

    /// Which of a digit's packets come.
    private enum Fate: CaseIterable {
        case all, doubled, endsLost, onlyLastEnd
    }

    /// A packet of a digit that is pressed; a step is 20 ms. It is released after ten steps, which is said three times.
    private static func event(_ digit: Character, _ step: Int) -> [UInt8] {
        let event = TelephoneEvent(digit: digit, isEnd: step >= 10, duration: UInt16(min(step + 1, 10) * 160))
        var payload = [UInt8](repeating: 0, count: TelephoneEvent.size)
        var span = payload.mutableSpan
        event.write(to: &span)
        return payload
    }

    /// Digits that a presses, 200 ms each: in telephone events, or in its G.711 audio if it knows none.
    private static func pressed(
        _ digits: String, by codecs: [Codec], in rig: inout EngineRig, _ fate: Fate = .all
    ) -> [HeardDigits.Digit] {
        var heard: [HeardDigits.Digit] = []
        let events = codecs.first(where: \.isTelephoneEvent)
        var timestamp: UInt32 = 0
        for digit in digits {
            var queue = DigitQueue(String(digit), duration: .milliseconds(200), gap: .milliseconds(200))
            for cycle in 0..<20 {
                if let events, cycle < 13 {
                    let copies =
                        switch fate {
                        case .all: 1
                        case .doubled: 2
                        case .endsLost: cycle < 10 ? 1 : 0
                        case .onlyLastEnd: cycle == 12 ? 1 : 0
                        }
                    for _ in 0..<copies {
                        rig.receive(
                            event(digit, cycle), payloadType: Int(events.payloadType.rawValue), timestamp: timestamp,
                            marker: cycle == 0)
                    }
                } else if events == nil {
                    var frame = [Int16](repeating: 0, count: 960)
                    var span = frame.mutableSpan
                    if case .event(let step) = queue.next() { step.sound(into: &span) }
                    let samples = stride(from: 0, to: 960, by: 6).map { G711.muLaw.encode(frame[$0]) }
                    rig.receive(samples, payloadType: 0, timestamp: timestamp + UInt32(cycle * 160))
                }
                rig.runCycle()
                heard += rig.takeDigits()
            }
            timestamp += 20 * 160
        }
        for _ in 0..<20 {
            rig.runCycle()
            heard += rig.takeDigits()
        }
        return heard
    }

    @Test func `telephone events that a headless leg hears are told with their length`() {
        var rig = EngineRig(a: [.pcmu, .events8], b: [.pcmu])
        rig.listen(PlayingVoice(nil))
        let heard = Self.pressed("12#", by: [.pcmu, .events8], in: &rig)
        #expect(heard.map(\.digit) == ["1", "2", "#"])
        #expect(heard.allSatisfy { $0.length == 9_600 && $0.leg == EngineRig.a }, "200 ms each: \(heard)")
    }

    @Test(arguments: Fate.allCases, [[Codec.pcmu, .events8], [.g722, .events8], [.pcmu]])
    private func `without a headless leg each digit is told once, relayed, transcoded, or unknown to the other`(
        _ fate: Fate, _ other: [Codec]
    ) {
        var rig = EngineRig(a: [.pcmu, .events8], b: other)
        let heard = Self.pressed("112#", by: [.pcmu, .events8], in: &rig, fate)
        #expect(heard.map(\.digit) == ["1", "1", "2", "#"])
        #expect(heard.allSatisfy { $0.length == 9_600 && $0.leg == EngineRig.a }, "200 ms each: \(heard)")
    }

    @Test func `digits in the audio are told wherever a headless leg hears, without a length`() {
        var rig = EngineRig(a: [.pcmu], b: [.pcmu])
        rig.listen(PlayingVoice(nil))
        let heard = Self.pressed("42*", by: [.pcmu], in: &rig)
        #expect(heard.map(\.digit) == ["4", "2", "*"])
        #expect(heard.allSatisfy { $0.length == nil })
    }

    @Test func `without a headless leg digits in the audio are told where it is configured to look for them`() {
        for detects in [true, false] {
            var rig = EngineRig(
                a: [.pcmu], b: [.opus(), .events48], engine: AudioEngine(detectsInbandDTMF: detects))
            let heard = Self.pressed("42*", by: [.pcmu], in: &rig)
            #expect(heard.map(\.digit) == (detects ? ["4", "2", "*"] : []))
        }
    }

    @Test func `a key that was down when its leg left is not told of the next leg in its place`() {
        for stays in [false, true] {
            var rig = EngineRig(mixing: [[.pcmu, .events8], [.pcmu, .events8]])
            rig.listen(PlayingVoice(nil), to: .mix)
            rig.receive(Self.event("7", 0), payloadType: 101, timestamp: 0, marker: true)
            if !stays {
                rig.leave(EngineRig.a)
                rig.join([.pcmu, .events8])
            }
            var heard: [HeardDigits.Digit] = []
            for _ in 0..<30 {
                rig.runCycle()
                heard += rig.takeDigits()
            }
            #expect(heard.map(\.digit) == (stays ? ["7"] : []), "its release was never heard")
        }
    }

    @Test func `a peer that starts a new source is heard, whatever its timestamps`() {
        var rig = EngineRig(a: [.pcmu, .events8], b: [.pcmu, .events8])
        for (ssrc, timestamp) in [(0xA, 1_000_000), (0xB, 500)] as [(UInt32, UInt32)] {
            for step in 0..<13 {
                rig.receive(
                    Self.event("9", step), payloadType: 101, timestamp: timestamp, marker: step == 0, ssrc: ssrc)
            }
            rig.stall(.seconds(1))
        }
        #expect(rig.takeDigits().map(\.digit) == ["9", "9"])
    }

    @Test func `a key that is down while the call begins to be transcoded is told once`() {
        var rig = EngineRig(a: [.pcmu, .events8], b: [.pcmu, .events8])
        for step in 0..<13 {
            if step == 5 { rig.listen(PlayingVoice(nil)) }
            rig.receive(Self.event("0", step), payloadType: 101, timestamp: 0, marker: step == 0)
            rig.runCycle()
        }
        rig.run(cycles: 20)
        #expect(rig.takeDigits().map(\.digit) == ["0"])
    }
}
