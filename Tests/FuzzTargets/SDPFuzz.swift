import Primitives
import SDP

/// Any text: the parser does not trap, what it accepts survives a round trip, and whatever a negotiation makes of it is
/// a description that can be read again.
package func fuzzSDP(_ bytes: Span<UInt8>) {
    guard let session = try? SessionDescription(parsing: String(decoding: [UInt8](copying: bytes), as: UTF8.self))
    else {
        return  // refusing is a fine answer
    }
    if let again = reparsed(session) { precondition(again == session, "the description survives a round trip") }

    var random = CountingSource()
    // So is refusing to make sense of it.
    if let offer = try? PeerDescription(reading: session, as: .offer) {
        var caller = LegNegotiation(identity: .fuzzed)
        var callee = LegNegotiation(identity: .fuzzed)
        guard (try? caller.receiveOffer(offer)) != nil,
            let mirrored = try? callee.makeOffer(mirroring: offer, policy: .relay, random: &random)
        else { return }
        precondition(
            mirrored.media.count <= offer.usableMedia.count, "a first offer has only m-lines that can be carried")
        precondition(mirrored.media.allSatisfy { $0.port != 0 }, "a first offer rejects nothing")
        readBack(mirrored, as: .offer)
        // The offer answered by itself is what a peer might say, too.
        guard let answer = try? PeerDescription(reading: session, as: .answer),
            let made = try? caller.makeAnswer(mirroring: answer, policy: .relay, random: &random)
        else { return }
        precondition(made.media.count == offer.media.count, "an answer has the m-lines of its offer")
        precondition(caller.phase == .stable && caller.negotiated != nil, "an answer completes the exchange")
        readBack(made, as: .answer)
        _ = try? callee.receiveAnswer(answer)  // mismatches are refused, not trapped on
        fuzzPreferences(session, random: &random)
    }
}

/// The same for an application with wishes: other payload types on one leg, codecs left out, limits set.
private func fuzzPreferences(_ session: SessionDescription, random: inout CountingSource) {
    var caller = LegNegotiation(identity: .fuzzed, preferences: .fuzzed)
    var callee = LegNegotiation(identity: .fuzzed, preferences: .fuzzed)
    let text = session.serialized
    // Refusals are fine answers here, too.
    guard let offer = try? caller.read(text, as: .offer), (try? caller.receiveOffer(offer)) != nil,
        let made = try? callee.makeOffer(mirroring: offer, policy: .engine, random: &random)
    else { return }
    readBack(made, as: .offer)
    let offered = made.media.compactMap { section in offer.media.first { $0.mid == section.attributes.value(of: "mid") }
    }
    for (section, mirrored) in zip(made.media, offered) {
        precondition(Set(section.formats).count == section.formats.count, "no number stands for two formats")
        precondition(mirrored.refusal == nil, "what is refused is not offered on")
    }
    guard let answer = try? callee.read(made.serialized, as: .answer) else { return }
    for (said, offered) in zip(answer.media, offered) {
        let known = said.codecs.filter { codec in offered.codecs.contains { $0.payloadType == codec.payloadType } }
        precondition(
            known.allSatisfy { codec in
                offered.codecs.contains { $0.payloadType == codec.payloadType && $0.isSameEncoding(as: codec) }
            },
            "the numbers of a leg lead back to what they were made of")
    }
}

/// What the gateway writes must be readable, unless the input was so large that the gateway's lines are too long.
private func readBack(_ description: SessionDescription, as role: PeerDescription.Role) {
    guard let session = reparsed(description) else { return }
    precondition(session == description, "what the gateway writes survives a round trip")
    do {
        let read = try PeerDescription(reading: session, as: role)
        precondition(!read.usableMedia.isEmpty, "what the gateway writes is usable")
    } catch {
        preconditionFailure("what the gateway wrote cannot be read: \(error)")
    }
}

/// `nil` when the text, now with CRLF, is beyond the limits.
private func reparsed(_ description: SessionDescription) -> SessionDescription? {
    do {
        return try SessionDescription(parsing: description.serialized)
    } catch .limitExceeded {
        return nil
    } catch {
        preconditionFailure("what was serialized does not parse: \(error)")
    }
}

extension LegIdentity {
    fileprivate static let fuzzed = LegIdentity(
        sessionID: 1, canonicalName: "name", streamID: "stream",
        credentials: ICECredentials(ufrag: "fuzz", password: "fuzzfuzzfuzzfuzzfuzzfuzz"),
        fingerprint: Fingerprint(.sha256, digest: [UInt8](repeating: 0xAB, count: 32)),
        candidates: ["1 1 udp 2130706431 192.0.2.1 7000 typ host"])
}

extension MediaPreferences {
    fileprivate static let fuzzed = MediaPreferences(
        audioCodecs: ["opus", "G722", "PCMU", "PCMA", "ISAC"], videoCodecs: ["VP8", "H264", "VP9"],
        payloadNumbers: [
            PayloadNumber("opus/48000/2", number: 105), PayloadNumber("VP8/90000", number: 97),
            PayloadNumber("H264/90000", number: 111),
        ].compactMap(\.self),
        audioBandwidth: 300, videoBandwidth: 1_000, opus: OpusParameterSet.mobile.parameters)
}

struct CountingSource: RandomSource {
    var word: UInt64 = 0

    mutating func next() -> UInt64 {
        word &+= 1 << 32
        return word
    }
}
