import Audio
import MediaPlane
import MediaServer
import Observability
import PeerSupport
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// Audio that no honest peer sends, through the codecs and into what others hear.
@Suite(.serialized)
struct HostileAudioTests {
    /// Two descriptions of comfort noise, level and twelve reflections. Sent in turns they once made the filter grow
    /// until the process ended.
    private static let noises: [[UInt8]] = [
        [0x00, 0x00, 0xFF, 0x00, 0xFF, 0x00, 0xFF, 0xFF, 0x61, 0x15, 0x00, 0x00, 0x1D],
        [0x00, 0x8A, 0x4B, 0x69, 0x00, 0x64, 0xFF, 0xB9, 0xF8, 0x45, 0x00, 0xFF, 0xFF],
    ]

    /// Two in each cycle of 20 ms, for eight seconds.
    @Test func `comfort noise that changes its colour all the time is noise (RFC 3389 §3.3)`() {
        var rig = EngineRig(a: [.pcmu, .comfortNoise], b: [.pcma])
        rig.receive([UInt8](repeating: 0x55, count: 160), payloadType: 0, timestamp: 0)
        for step in 0..<400 as Range<UInt32> {
            for (place, noise) in Self.noises.enumerated() {
                rig.receive(noise, payloadType: 13, timestamp: 160 + step * 160 + UInt32(place) * 80)
            }
            rig.runCycle()
        }
        #expect((rig.receivedFromA?.noise ?? 0) > 300_000)
        // Afterwards the peer is heard as it speaks.
        var oscillator = Oscillator(frequency: 440, rate: 8_000)
        for step in 0..<50 as Range<UInt32> {
            let samples = (0..<160).map { _ in Int16(8_000 * oscillator.next()) }
            rig.receive(samples.map(G711.muLaw.encode), payloadType: 0, timestamp: 160 * (401 + step))
            rig.runCycle()
        }
        #expect(rig.heard(from: EngineRig.a)?.decibelsBelow == 15)
    }

    @Test func `a peer that sends it to a media server leaves the call alive and heard`() throws {
        let rig = try transcodedRig()
        try rig.caller.send(
            Rig.packet(0, sequence: 0, timestamp: 0, ssrc: 0xAAAA, [UInt8](repeating: 0x55, count: 160)))
        for step in 0..<400 {
            try rig.caller.send(
                Rig.packet(
                    13, sequence: UInt16(1 + step), timestamp: UInt32(160 + step * 80), ssrc: 0xAAAA,
                    Self.noises[step % 2]))
            _ = try rig.callee.run(for: .milliseconds(10))
        }
        rig.callee.clear()
        // Nothing has happened to the worker, and both hear each other.
        var sequence: UInt16 = 401
        #expect(
            try rig.wait {
                try? rig.caller.send(
                    Rig.packet(
                        0, sequence: sequence, timestamp: UInt32(sequence - 401) * 160 + 160 + 400 * 80, ssrc: 0xAAAA,
                        [UInt8](repeating: 0x2A, count: 160)))
                sequence += 1
                return rig.callee.received.contains {
                    $0.dropFirst(12).contains { abs(Int(G711.aLaw.decode($0))) > 1_000 }
                }
            })
        try rig.callee.send(
            Rig.packet(8, sequence: 1, timestamp: 0, ssrc: 0xBBBB, [UInt8](repeating: 0x55, count: 160)))
        #expect(try rig.caller.run(for: .seconds(60)) { !$0.received.isEmpty })
        rig.server.stop()
    }

    /// The peer is slow to answer the offer of the mix, or never does.
    @Test func `comfort noise that was agreed on before the mix is not heard in it`() {
        var rig = EngineRig(mixing: [[.pcmu, .comfortNoise], [.pcma]])
        rig.receive([UInt8](repeating: 0x55, count: 160), payloadType: 0, timestamp: 0)
        for step in 0..<50 as Range<UInt32> {
            rig.receive([0], payloadType: 13, timestamp: 160 + step * 160)
            rig.runCycle()
        }
        #expect(rig.receivedFromA?.played ?? 0 > 0)
        #expect(rig.receivedFromA?.noise == 0)
        #expect(rig.heard(from: EngineRig.a) == .silence)
    }

    // MARK: Digits

    @Test func `a flood of telephone events is pressed for half a minute, and no longer (RFC 4733 §6)`() {
        var rig = EngineRig(a: [.opus(), .events48], b: [.pcmu, .events8])
        var digits = 0
        for step in 0..<1_000 as Range<UInt32> {
            let event = TelephoneEvent(digit: "5", isEnd: true, duration: 960)
            var payload = [UInt8](repeating: 0, count: TelephoneEvent.size)
            var span = payload.mutableSpan
            event.write(to: &span)
            rig.receive(payload, payloadType: 110, timestamp: step * 960, marker: true)
        }
        #expect(rig.engine.takeDroppedDigits() == 1_000 - DigitQueue.followedCapacity)
        for _ in 0..<1_500 {
            rig.runCycle()
            digits += rig.sent.count { $0.payloadType == 101 && $0.marker }
            rig.forget()
        }
        #expect(digits == DigitQueue.followedCapacity)
        #expect(!rig.isPressing)
        #expect(rig.engine.takeDroppedDigits() == 0)
    }

    @Test func `a peer that floods a media server with digits has them counted`() throws {
        let rig = try Rig(callerCodecs: [.opus(), .events48], calleeCodecs: [.pcmu, .events8])
        var established = rig
        try established.establish()
        for step in 0..<200 {
            try rig.caller.send(
                Rig.packet(
                    110, sequence: UInt16(step), timestamp: UInt32(step) * 960, ssrc: 0xAAAA, [5, 0x80, 3, 0xC0]))
        }
        #expect(try rig.wait { rig.metrics.mediaDigitsDropped.value >= 130 })
        #expect(try rig.wait { rig.callee.received.contains { $0[1] & 0x7F == 101 } })
        rig.server.stop()
    }

    // MARK: Anything

    private static let callers: [[Codec]] = [
        [.opus("sprop-stereo=1;useinbandfec=1"), .events48, .comfortNoise], [.pcmu, .comfortNoise, .events8],
        [.pcma, .g722, .pcmu, .comfortNoise],
        [.g722, .comfortNoise, .pcma, .opus()],
    ]

    /// Mutated packets of every codec, comfort noise and digits, in any order, with losses, repetitions and jumps.
    @Test(arguments: 1...24 as ClosedRange<UInt64>)
    func `no sequence of payloads stops the codecs`(_ seed: UInt64) {
        var random = SeededRandomSource(seed: seed)
        let codecs = Self.callers[Int(seed) % Self.callers.count]
        var rig =
            seed.isMultiple(of: 2)
            ? EngineRig(a: codecs, b: [seed.isMultiple(of: 4) ? .opus("stereo=1") : .pcma])
            : EngineRig(mixing: [codecs, [.opus()]])
        var timestamp = UInt32(truncatingIfNeeded: random.next())
        for _ in 0..<600 {
            for _ in 0..<(random.next() % 4) {
                let codec = codecs[Int(random.next() % UInt64(codecs.count))]
                rig.receive(
                    Self.payload(&random), payloadType: Int(codec.payloadType.rawValue), timestamp: timestamp,
                    marker: random.next() % 8 == 0)
                timestamp &+= Self.step(&random)
            }
            rig.runCycle()
            rig.forget()
        }
        // Whoever speaks sense is heard again: the stream begins anew where timestamps jump.
        #expect(rig.heard(from: EngineRig.a) != nil || rig.receivedFromA == nil)
    }

    private static func step(_ random: inout SeededRandomSource) -> UInt32 {
        switch random.next() % 12 {
        case 0: 0
        case 1: UInt32(truncatingIfNeeded: random.next())
        case 2: 0 &- UInt32(random.next() % 4_000)
        case 3: UInt32(random.next() % 100_000)
        case 4: 1
        case 5...7: 160
        default: 960
        }
    }

    /// Table-of-contents bytes of Opus that say all modes, lengths and counts (RFC 6716 §3.1), with redundancy or
    /// without, and plain noise.
    private static func payload(_ random: inout SeededRandomSource) -> [UInt8] {
        let size = [0, 1, 2, 3, 10, 80, 160, 240, 480, 960, 1_276, 1_400][Int(random.next() % 12)]
        var payload = (0..<size).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        if size > 1, random.next() % 2 == 0 { payload[1] = [1, 2, 3, 0x41, 0x81, 0xC2, 48][Int(random.next() % 7)] }
        return payload
    }

    private func transcodedRig() throws -> Rig {
        var rig = try Rig(callerCodecs: [.pcmu, .comfortNoise], calleeCodecs: [.pcma])
        try rig.establish()
        return rig
    }
}
