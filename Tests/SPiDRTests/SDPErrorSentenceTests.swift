import CallControl
import Primitives
import SDP
import SPiDR
import Testing

/// The sentences about descriptions that cannot be read or used.
struct SDPErrorSentenceTests {
    @Test(
        arguments: [
            (.missingVersion, "the description starts with v=0"), (.missingOrigin, "o= follows v="),
            (.missingName, "s= follows o="), (.missingTimes, "t= is missing"), (.empty, "the line is empty"),
            (.noType, "a line starts with one letter and \"=\""),
            (.controlCharacter, "a NUL or a lone carriage return stands in the line"),
            (.unknownType, "the line has an unknown type"),
            (.misplaced("b"), "b= stands out of order or too often"), (.unsupportedVersion, "the version is not 0"),
            (.originFields, "o= needs six fields"),
            (.originNumbers, "the session id and version of o= are not numbers of at most 63 bits"),
            (.connectionFields, "c= needs a network type, an address type and an address"),
            (.bandwidthFields, "b= needs a type, a colon and a number"),
            (.timeFields, "t= needs a start and a stop time"), (.attributeName, "a= needs a name"),
            (.mediaFields, "m= needs a type, a port, a protocol and a format"),
            (.mediaPort, "the port of m= is not 0…65535"),
            (.mediaPortCount, "the number of ports of m= is not 1…65535"),
        ] as [(SDPError.LineFault, String)])
    func `a line that breaks the grammar is named`(_ fault: SDPError.LineFault, _ clause: String) {
        let error = CallError.malformedDescription(.malformedLine(5, fault))
        #expect(error.sentence == "The SDP cannot be read: SDP line 5: \(clause).")
    }

    @Test(
        arguments: [
            (.malformedSession(attribute: "setup"), "SDP session level: a=setup cannot be read"),
            (
                .malformedSession(attribute: String(repeating: "x", count: 33)),
                "SDP session level: a=\(String(repeating: "x", count: 32)) cannot be read"
            ),
            (.malformedMedia(0, .unreadable(attribute: "rtpmap")), "SDP m-line 0: a=rtpmap cannot be read"),
            (.malformedMedia(1, .repeatedMid), "SDP m-line 1: a=mid is that of another m-line"),
            (.limitExceeded(.bytes(65_536)), "SDP is too large: more than 65536 bytes"),
            (.limitExceeded(.lineBytes(4_096, line: 5)), "SDP is too large: line 5 is longer than 4096 bytes"),
            (.limitExceeded(.mediaCount(64)), "SDP is too large: more than 64 m-lines"),
            (
                .limitExceeded(.attributeCount(2_000, line: 2_005)),
                "SDP is too large: more than 2000 attributes at line 2005"
            ),
            (
                .offerMismatch(media: nil, .fewerMedia(count: 1, agreed: 2)),
                "the offer does not continue the session: it has 1 m-lines, and there were 2 (RFC 3264 §8)"
            ),
            (
                .offerMismatch(media: 0, .changedKind),
                "the offer does not continue the session: m-line 0: its media type has changed"
            ),
            (
                .offerMismatch(media: 1, .changedMid),
                "the offer does not continue the session: m-line 1: its a=mid has changed"
            ),
            (
                .answerMismatch(media: nil, .surplusMedia(count: 3, offered: 2)),
                "the answer does not fit the offer: it has 3 m-lines instead of 2 (RFC 3264 §6)"
            ),
        ] as [(SDPError, String)])
    func `a description that cannot be read is told why`(_ error: SDPError, _ clause: String) {
        #expect(CallError.malformedDescription(error).sentence == "The SDP cannot be read: \(clause).")
    }

    @Test(
        arguments: [
            (.otherKind(.video, offered: .audio), "it answers audio with video"),
            (.otherMid, "its a=mid is not that of the offer"),
            (.otherProtocol, "its protocol is not that of the offer"),
            (.direction(.sendOnly, offered: .sendOnly), "a=sendonly cannot answer a=sendonly (RFC 3264 §6.1)"),
            (
                .otherEncoding(PayloadType(114)!, "L16/16000", offered: "opus/48000/2"),
                "payload type 114 is opus/48000/2 in the offer and L16/16000 in the answer"
            ),
            (.unusable(.noRTCPMultiplexing), "it lacks a=rtcp-mux, which the gateway requires"),
            (.unusable(.noOfferedCodecs), "it accepts none of the codecs that were offered"),
        ] as [(SDPError.AnswerFault, String)])
    func `an answer that contradicts the offer is told how`(_ fault: SDPError.AnswerFault, _ clause: String) {
        let error = CallError.malformedDescription(.answerMismatch(media: 0, fault))
        #expect(
            error.sentence == "The SDP cannot be read: the answer does not fit the offer: m-line 0: \(clause).")
    }

    @Test(
        arguments: [
            (.disabledByPeer, "is disabled (port 0)"),
            (.unsupportedKind("application"), "is application, which is neither audio nor video"),
            (.unsupportedProtocol("RTP/AVP"), "uses RTP/AVP instead of UDP/TLS/RTP/SAVPF"),
            (
                .keysInDescription,
                "offers SDES keys (a=crypto) only; the gateway needs DTLS-SRTP (a=fingerprint)"
            ),
            (
                .noFingerprint,
                "has no a=fingerprint of SHA-224 or a longer SHA-2 hash, which DTLS-SRTP needs"
                    + " (SHA-1 and MD5 do not count)"
            ),
            (.noICECredentials, "has no a=ice-ufrag and a=ice-pwd"), (.unusableSetup, "has no usable a=setup"),
            (.noRTCPMultiplexing, "lacks a=rtcp-mux, which the gateway requires"),
            (.noCodecs, "has no codec that carries media"),
            (.noChosenCodecs(["speex", "iLBC"]), "has none of the codecs that are asked for: speex, iLBC"),
            (.noOfferedCodecs, "accepts none of the codecs that were offered"),
            (.outsideBundle, "is outside the BUNDLE group, and there is no other transport for it"),
            (.ambiguousPayloadTypes, "has only payload types that mean other formats on m-lines before it"),
        ] as [(MediaRefusal, String)])
    func `an m-line that cannot be carried is told why`(_ refusal: MediaRefusal, _ predicate: String) {
        let error = CallError.unsupportedDescription(.noUsableMedia([.disabledByPeer, refusal]))
        let clause = "the description has no audio or video that the gateway can carry"
        #expect(
            error.sentence
                == "The SDP cannot be used: \(clause): m-line 0 is disabled (port 0); m-line 1 \(predicate).")
    }

    @Test(
        arguments: [
            (
                .unsupportedLitePeer,
                "the peer is ICE lite, as the gateway is, so that nobody would check connectivity"
            ),
            (.noUsableMedia([]), "the description has no m-line; offer at least one of audio and video"),
            (.wrongState(.idle), "no offer has been made on this leg"),
            (.wrongState(.localOffer), "an offer of the gateway waits for its answer on this leg"),
            (.wrongState(.remoteOffer), "an offer of the peer waits for its answer on this leg"),
            (.wrongState(.stable), "no offer is pending on this leg"),
            (
                .restartNeedsCredentials,
                "the peer restarts ICE, and no new credentials were drawn for the answer"
            ),
        ] as [(SDPError, String)])
    func `a description that cannot be used is told why`(_ error: SDPError, _ clause: String) {
        #expect(CallError.unsupportedDescription(error).sentence == "The SDP cannot be used: \(clause).")
    }
}
