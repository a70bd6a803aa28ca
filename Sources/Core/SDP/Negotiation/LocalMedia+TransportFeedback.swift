extension HeaderExtension {
    /// The URI of the transport-wide sequence number (draft-holmer-rmcat-transport-wide-cc-extensions-01 §2).
    package static let transportSequenceNumber =
        "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01"
    /// Ids of one-byte headers (RFC 8285 §4.2).
    private static let shortIDs: ClosedRange<UInt8> = 1...14

    /// An id that no mapping of a BUNDLE group uses for another extension, since an id means one thing in the whole
    /// group (RFC 9143 §9.1); `nil` if all short ids are taken.
    static func freeID(for uri: String, among mappings: [HeaderExtension], preferring preferred: UInt8?) -> UInt8? {
        let taken = mappings.filter { $0.uri != uri }.map(\.id)
        if let preferred, !taken.contains(preferred) { return preferred }
        return shortIDs.reversed().first { !taken.contains($0) }
    }
}

/// Congestion control of a leg, whatever the other leg's peer can do. The gateway gives feedback on the packets of a
/// peer, numbers the packets it sends to it, and tells a sender of video what the paths to the receivers carry (REMB).
///
/// Only legs with video have it, on all m-lines of a transport. Nothing would adapt the rate of audio alone, and there
/// would be a feedback packet for every five audio packets. If a leg has several transports, the one of the first video
/// m-line has it.
extension [LocalMedia] {
    /// Adds the feedback to an offer that mirrors `other`, under the id that `other` uses, else the id of the leg, else
    /// a free one.
    mutating func offerTransportFeedback(
        _ policy: MediaPolicy, mirroring other: PeerDescription, standing: NegotiatedLeg?
    ) {
        let known = other.media.flatMap(\.extensions)
        let usual = (known + (standing?.media ?? []).flatMap(\.extensions)).first {
            $0.uri == HeaderExtension.transportSequenceNumber
        }?.id
        let taken = known + flatMap(\.extensions)
        guard policy.givesTransportFeedback, carriesVideo,
            let id = HeaderExtension.freeID(
                for: HeaderExtension.transportSequenceNumber, among: taken, preferring: usual)
        else { return }
        for index in indices where self[index].kind.isRelayed && !self[index].isRejected {
            self[index].takeTransportFeedback(id: id, .sendReceive) { $0.carriesMedia }
            self[index].takeBitrateLimits { $0.carriesMedia }
        }
    }

    /// Adds the feedback to an answer where `offer` has both the extension and the feedback.
    mutating func answerTransportFeedback(_ policy: MediaPolicy, to offer: PeerDescription) {
        guard policy.givesTransportFeedback else { return }
        for (index, section) in zip(indices, offer.media) where !self[index].isRejected {
            self[index].takeBitrateLimits { codec in
                section.codecs.codec(for: codec.payloadType)?.feedback.contains(Codec.bitrateLimit) == true
            }
        }
        guard let transport = first(where: { $0.kind == .video && !$0.isRejected })?.transport else { return }
        for (index, section) in zip(indices, offer.media) {
            guard !self[index].isRejected, self[index].transport == transport else { continue }
            guard let offered = section.extensions.first(where: { $0.uri == HeaderExtension.transportSequenceNumber }),
                offered.direction != .inactive
            else { continue }
            self[index].takeTransportFeedback(id: offered.id, offered.direction.reversed) { codec in
                section.codecs.codec(for: codec.payloadType)?.feedback.contains(Codec.transportFeedback) == true
            }
        }
    }

    private var carriesVideo: Bool { contains { $0.kind == .video && !$0.isRejected } }
}

extension LocalMedia {
    fileprivate mutating func takeTransportFeedback(
        id: UInt8, _ direction: MediaDirection, for codecs: (Codec) -> Bool
    ) {
        guard self.codecs.contains(where: codecs) else { return }
        extensions.append(HeaderExtension(id: id, uri: HeaderExtension.transportSequenceNumber, direction: direction))
        for index in self.codecs.indices where codecs(self.codecs[index]) {
            self.codecs[index].feedback.append(Codec.transportFeedback)
        }
    }
}

extension LocalMedia {
    /// Adds REMB to video codecs; the rate of audio is not adapted.
    fileprivate mutating func takeBitrateLimits(for codecs: (Codec) -> Bool) {
        guard kind == .video else { return }
        for index in self.codecs.indices where codecs(self.codecs[index]) {
            let isKnown = self.codecs[index].feedback.contains(Codec.bitrateLimit)
            if !isKnown { self.codecs[index].feedback.append(Codec.bitrateLimit) }
        }
    }
}

extension Codec {
    /// The value of `a=rtcp-fb` for REMB (draft-alvestrand-rmcat-remb-03).
    package static let bitrateLimit = "goog-remb"
    /// The value of `a=rtcp-fb` for transport-wide feedback.
    package static let transportFeedback = "transport-cc"
}
