import CallControl
import SPiDR
import TestSupport
import Testing

/// `updateIceCandidate` (spidr-wire §8.10).
struct TrickledCandidateTests {
    private static let candidates = [
        TrickledLine(
            candidate: "candidate:1 1 udp 2122260223 192.0.2.7 50000 typ host", mid: "0", mediaIndex: 0,
            usernameFragment: "Ab12"),
        TrickledLine(candidate: "", mid: "0", mediaIndex: 0),
    ]

    /// Who is told, with what.
    private func told(_ actions: [CallAction]) -> [String] {
        actions.compactMap { action in
            guard let told = action.told, told.notification.candidates == Self.candidates else { return action.trace }
            return "\(told.receivers.map(\.rawValue).joined(separator: " ")) \(told.notification.type.rawValue)"
        }
    }

    @Test func `where media goes from peer to peer they go to the other end, rung or answered`() throws {
        var rig = CallRig()
        #expect(throws: CallError.noSuchCall) { try rig.call.candidates(Self.candidates, by: .caller) }
        _ = try rig.start()
        #expect(told(try rig.call.candidates(Self.candidates, by: .caller)) == ["b1 b2 IceCandidate"])
        #expect(told(try rig.call.candidates(Self.candidates, by: .callee)) == ["a1 IceCandidate"])
        _ = try rig.answer()
        #expect(told(try rig.call.candidates(Self.candidates, by: .caller)).map { $0.suffix(12) } == ["IceCandidate"])
        #expect(told(try rig.call.candidates(Self.candidates, by: .callee)) == ["a1 IceCandidate"])
        _ = rig.take(.drain)
        #expect(throws: CallError.noSuchCall) { try rig.call.candidates(Self.candidates, by: .caller) }
    }

    @Test func `a description that goes to the other end unread is no longer than one that is read`() throws {
        let (longest, tooLong) = (String(repeating: "\t", count: 65_536), String(repeating: "\t", count: 65_537))
        let refusal = CallError.descriptionTooLong(limit: 65_536)
        var rig = CallRig()
        #expect(throws: refusal) { try rig.start(tooLong) }
        _ = try rig.start(longest)
        #expect(throws: refusal) { try rig.answer(tooLong) }
        _ = try rig.answer(longest)
        #expect(throws: refusal) { try rig.offerUpdate(tooLong, by: .caller) }
        _ = try rig.offerUpdate("offer", by: .caller)
        let before = rig.call
        var random = SeededRandomSource(seed: 2)
        #expect(throws: refusal) {
            try rig.call.respond(by: .callee, CallUpdateRequest(sdp: tooLong), at: rig.clock.now, random: &random)
        }
        #expect(rig.call == before)
    }

    @Test func `the gateway itself learns addresses from checks, and passes none on`() throws {
        let rig = try MidCallRig()
        #expect(try rig.call.candidates(Self.candidates, by: .caller).isEmpty)
        #expect(try rig.call.candidates(Self.candidates, by: .callee).isEmpty)
    }
}
