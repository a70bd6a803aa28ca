import CallControl
import CallRuntime
import MediaPlane
import MediaServer
import Observability
import PeerSupport
import Primitives
import RTP
import SDP
import Testing

/// Keys that real peers press in a call between them.
@Suite(.serialized)
struct PressedKeyTests {
    /// Presses keys one after the other, 100 ms each by the clock of the packets, between packets of audio.
    private struct Presser {
        let peer: LoopbackPeer
        let ssrc: UInt32
        let payloadType: UInt8
        private var sequence: UInt16 = 500
        private var timestamp: UInt32 = 80_000

        init(_ peer: LoopbackPeer, ssrc: UInt32, payloadType: UInt8 = 101) {
            (self.peer, self.ssrc, self.payloadType) = (peer, ssrc, payloadType)
        }

        mutating func say() throws {
            try peer.send(Rig.packet(sequence: sequence, timestamp: timestamp, ssrc: ssrc))
            (sequence, timestamp) = (sequence &+ 1, timestamp &+ 160)
        }

        /// - Parameter ends: how many of the three packets that say the end come.
        mutating func press(_ digits: String, ends: Int = 3) throws {
            for digit in digits {
                for step in 1...(5 + ends) {
                    let event = TelephoneEvent(digit: digit, isEnd: step > 5, duration: UInt16(160 * min(step, 5)))
                    var payload = [UInt8](repeating: 0, count: TelephoneEvent.size)
                    var span = payload.mutableSpan
                    event.write(to: &span)
                    try peer.send(
                        Rig.packet(
                            payloadType | (step == 1 ? 0x80 : 0), sequence: sequence, timestamp: timestamp, ssrc: ssrc,
                            payload))
                    sequence &+= 1
                }
                timestamp &+= 1_600
                try say()
            }
        }
    }

    private static let ways: [[Codec]] = [[.pcmu, .events8], [.g722, .events8], [.pcmu]]

    @Test(arguments: ways) func `keys of both are told once each, relayed, transcoded, or unknown to the other`(
        _ callee: [Codec]
    ) throws {
        var rig = try Rig(callerCodecs: [.pcmu, .events8], calleeCodecs: callee)
        try rig.establish()
        let events = rig.events
        var caller = Presser(rig.caller, ssrc: 0xAAAA)
        try caller.say()
        try caller.press("112#")
        #expect(try rig.wait { events.keys(by: .caller) == "112#" })
        #expect(events.contains(.keyPressed(.pound, milliseconds: 100, .caller)))
        if callee.contains(where: \.isTelephoneEvent), callee.contains(where: { $0.isNamed("PCMU") }) {
            var other = Presser(rig.callee, ssrc: 0xBBBB)
            try other.press("9D")
            #expect(try rig.wait { events.keys(by: .callee) == "9D" })
        }
        #expect(events.keys(by: .caller) == "112#")
        rig.server.stop()
    }

    @Test func `a key whose ends are lost is told by the call's own clock, although no audio is made here`() throws {
        var rig = try Rig(callerCodecs: [.pcmu, .events8], calleeCodecs: [.pcmu, .events8])
        try rig.establish()
        let events = rig.events
        var caller = Presser(rig.caller, ssrc: 0xAAAA)
        try caller.press("7", ends: 0)
        #expect(try rig.wait { events.keys(by: .caller) == "7" })
        try caller.press("8", ends: 1)
        #expect(try rig.wait { events.keys(by: .caller) == "78" })
        rig.server.stop()
    }

    @Test func `a flood of keys is told up to a limit, and counted beyond, in a call that is relayed`() throws {
        var rig = try Rig(callerCodecs: [.pcmu, .events8], calleeCodecs: [.pcmu, .events8])
        try rig.establish()
        let events = rig.events
        for step in 0..<300 {
            try rig.caller.send(
                Rig.packet(
                    101, sequence: UInt16(step), timestamp: UInt32(step) * 160, ssrc: 0xAAAA, [5, 0x80, 0, 160]))
        }
        let metrics = rig.metrics
        #expect(try rig.wait { metrics.mediaDigitsDropped.value > 0 })
        let told = events.keys(by: .caller)
        #expect(told.count >= HeardDigits.limit.burst && told.allSatisfy { $0 == "5" })
        rig.server.stop()
    }
}
