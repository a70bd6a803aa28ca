extension HeaderExtension {
    /// The URI of the extension with the audio level of a packet, as its sender measured it (RFC 6464 §4).
    package static let audioLevel = "urn:ietf:params:rtp-hdrext:ssrc-audio-level"
}

/// Audio levels of media that the gateway does not decode. It reads them for its statistics, whether the other leg's
/// peer wants them or not.
///
/// If that peer wants them, its mapping is mirrored and serves both purposes. Otherwise, the gateway's own mapping is
/// `recvonly` (RFC 8285 §5).
extension [LocalMedia] {
    /// Adds audio levels to an offer that mirrors `other`, under the id that `other` uses, else the id of the leg, else
    /// a free one.
    mutating func offerAudioLevels(_ policy: MediaPolicy, mirroring other: PeerDescription, standing: NegotiatedLeg?) {
        let known = other.media.flatMap(\.extensions)
        let usual = (known + (standing?.media ?? []).flatMap(\.extensions)).first {
            $0.uri == HeaderExtension.audioLevel
        }?.id
        guard policy.readsAudioLevels,
            let id = HeaderExtension.freeID(for: HeaderExtension.audioLevel, among: known, preferring: usual)
        else { return }
        for index in indices where self[index].kind == .audio && !self[index].isRejected {
            guard !self[index].extensions.contains(where: { $0.uri == HeaderExtension.audioLevel }) else { continue }
            self[index].extensions.append(
                HeaderExtension(id: id, uri: HeaderExtension.audioLevel, direction: .receiveOnly))
        }
    }

    /// Adds audio levels to an answer where the peer offers to send them.
    mutating func answerAudioLevels(_ policy: MediaPolicy, to offer: PeerDescription) {
        guard policy.readsAudioLevels else { return }
        for (index, section) in zip(indices, offer.media) where self[index].kind == .audio && !self[index].isRejected {
            guard let offered = section.extensions.first(where: { $0.uri == HeaderExtension.audioLevel }),
                offered.direction.sends
            else {
                continue
            }
            self[index].receiveAudioLevels(id: offered.id)
        }
    }
}

extension LocalMedia {
    fileprivate mutating func receiveAudioLevels(id: UInt8) {
        guard let agreed = extensions.firstIndex(where: { $0.uri == HeaderExtension.audioLevel }) else {
            return extensions.append(HeaderExtension(id: id, uri: HeaderExtension.audioLevel, direction: .receiveOnly))
        }
        extensions[agreed].direction = MediaDirection(sends: extensions[agreed].direction.sends, receives: true)
    }
}
