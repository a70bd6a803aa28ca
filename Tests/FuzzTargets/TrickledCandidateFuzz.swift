import ICE
import Primitives

/// Any text as a trickled candidate: it is a candidate within all bounds, the end of candidates, or refused.
package func fuzzTrickledCandidate(_ bytes: Span<UInt8>) {
    let text = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
    let isEnd = ["", "a=", "end-of-candidates", "a=end-of-candidates"].contains(text)
    let trickled: TrickledCandidate
    do {
        trickled = try TrickledCandidate(parsing: text)
    } catch {
        precondition(!isEnd, "the end of candidates is never refused")
        return
    }
    guard case .candidate(let candidate) = trickled else {
        precondition(isEnd, "no other text means the end of candidates")
        return
    }
    precondition(!isEnd, "the end of candidates is no candidate")
    check(candidate)
    precondition(
        (try? TrickledCandidate(parsing: "a=\(candidate.description)")) == trickled,
        "a candidate survives printing and parsing")
    trickle(trickled, ofFragment: candidate.ufrag)
}

/// What was read is within the bounds of RFC 8839 §5.1, and is one line when it is printed.
private func check(_ candidate: Candidate) {
    precondition(1...32 ~= candidate.foundation.utf8.count, "the length of a foundation is limited")
    precondition(1...256 ~= candidate.component, "a component is 1 to 256")
    precondition(1...0x7FFF_FFFF ~= candidate.priority, "a priority is 1 to 2³¹−1")
    precondition(candidate.extensions.count <= Candidate.maximumExtensionCount, "extensions are limited")
    precondition(candidate.description.utf8.allSatisfy { 0x20...0x7E ~= $0 }, "a candidate is one line of ASCII")
}

/// The agent takes the candidate if it belongs to the peer's parameters, and takes only so many.
private func trickle(_ trickled: TrickledCandidate, ofFragment ufrag: String?) {
    let local = ICEParameters(ufrag: "local", password: Redacted("password of the gateway"))
    let remote = ICEParameters(ufrag: "peer", password: Redacted("password of the peer"))
    var agent = ICELiteAgent(local: local, configuration: .init(maximumPathCount: 3))
    _ = agent.setRemote(remote, at: MonotonicTime(nanoseconds: 1_000_000_000_000))
    if let ufrag, ufrag != remote.ufrag {
        precondition(agent.trickled(trickled) == .stale(ufrag: ufrag), "a candidate of other parameters is stale")
        return
    }
    for _ in 0..<ICELiteAgent.maximumTrickledCount {
        precondition(agent.trickled(trickled) == .noted, "a candidate of the peer's parameters is noted")
    }
    precondition(agent.trickled(trickled) == .limitReached, "the number of trickled candidates is limited")
}
