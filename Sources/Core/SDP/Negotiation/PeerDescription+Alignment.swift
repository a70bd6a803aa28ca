import Primitives

/// Rewrites the description of one peer into the form of another peer's session.
///
/// Two legs that were set up together have the same m-lines, mids and payload types; alignment changes nothing there.
/// Legs that were joined later, by a transfer for example, differ. To each peer, an m-line keeps its place, its mid and
/// the meaning of its payload types for the duration of the session (RFC 3264 §8, RFC 8829 §5.2.2).
extension PeerDescription {
    /// This description in the form of another leg's session: same places, mids, payload types and extension ids.
    /// M-lines that the session does not have follow at the end.
    ///
    /// - Parameter session: What the other leg agreed on so far. If it is empty, the description stays as it is.
    package func aligned(to session: [NegotiatedMedia]) -> PeerDescription {
        guard !session.isEmpty else { return self }
        return aligned(
            to: session.map { Place(mid: $0.mid, kind: $0.kind, codecs: $0.codecs, extensions: $0.extensions) },
            isOpenEnded: true)
    }

    /// This answer in the form of the offer of another leg's peer: one m-line for each m-line of the offer.
    ///
    /// An m-line that the gateway refuses was not passed on to the other leg, so no m-line of this answer takes its
    /// place.
    ///
    /// - Parameters:
    ///   - offer: The offer that is answered.
    ///   - keepingUnknown: Whether an m-line that this description lacks appears as offered, with all its codecs and
    ///     `inactive`. The same then holds for an m-line that is refused as `.outsideBundle`, which this peer could
    ///     only not take as it was offered. If `false`, both are rejected.
    package func aligned(toOffer offer: PeerDescription, keepingUnknown: Bool = false) -> PeerDescription {
        let places = offer.media.map { section in
            Place(
                mid: section.mid, kind: section.kind, codecs: section.codecs, extensions: section.extensions,
                isRefused: section.refusal != nil)
        }
        var aligned = aligned(to: places, isOpenEnded: false)
        guard keepingUnknown else { return aligned }
        for (index, chosen) in lines(for: places).enumerated() where offer.media[index].refusal == nil {
            if let chosen, media[chosen].refusal != .outsideBundle { continue }
            aligned.media[index] = offer.media[index]
            aligned.media[index].direction = .inactive
        }
        return aligned
    }

    /// A copy in which the direction of every usable m-line is `sendrecv`.
    package func opened() -> PeerDescription {
        var opened = self
        for index in opened.media.indices where opened.media[index].refusal == nil {
            opened.media[index].direction = .sendReceive
        }
        return opened
    }

    /// The description used to introduce this peer to a new leg. It is unchanged if its principal direction is
    /// `sendrecv`; otherwise, all usable m-lines are opened, since a hold is not part of an introduction.
    package func introduced() -> PeerDescription { principalDirection == .sendReceive ? self : opened() }

    /// The direction of the first usable audio m-line, or of the first usable m-line if there is no audio; `nil` if no
    /// m-line is usable. It shows whether the peer is on hold.
    package var principalDirection: MediaDirection? {
        let audio = usableMedia.filter { $0.kind == .audio }
        guard let first = audio.first ?? usableMedia.first else { return nil }
        return first.direction
    }

    private func aligned(to places: [Place], isOpenEnded: Bool) -> PeerDescription {
        let chosen = lines(for: places)
        var sections = places.enumerated().map { index, place in
            chosen[index].map { place.take(media[$0], at: index) }
                ?? PeerMedia(vacantAt: index, mid: place.mid, kind: place.kind, codecs: place.codecs)
        }
        if isOpenEnded {
            var taken = Set(places.map(\.mid))
            for index in media.indices where !chosen.contains(index) {
                var section = media[index]
                section.index = sections.count
                var number = section.index
                while !taken.insert(section.mid).inserted {
                    section.mid = String(number)
                    number += 1
                }
                sections.append(section)
            }
        }
        var aligned = self
        aligned.media = sections
        // Each leg decides by itself which m-lines share a transport.
        aligned.groups = []
        return aligned
    }

    /// Chooses the m-line that takes each place: the one with the same mid and kind, else the first usable one of that
    /// kind, else the first one of that kind. The entry is `nil` if no m-line is left for the place.
    private func lines(for places: [Place]) -> [Int?] {
        var left = Array(media.indices)
        func take(_ fits: (PeerMedia) -> Bool) -> Int? {
            left.firstIndex { fits(media[$0]) }.map { left.remove(at: $0) }
        }
        var chosen = places.map { place in place.isRefused ? nil : take { $0.kind == place.kind && $0.mid == place.mid }
        }
        for (index, place) in places.enumerated() where chosen[index] == nil && !place.isRefused {
            chosen[index] = take { $0.kind == place.kind && $0.refusal == nil } ?? take { $0.kind == place.kind }
        }
        return chosen
    }
}

/// An m-line of the session into which a description is aligned.
private struct Place {
    var mid: String
    var kind: MediaKind
    var codecs: [Codec]
    var extensions: [HeaderExtension]
    /// Whether the m-line was refused in the offer; no m-line takes its place then.
    var isRefused = false

    func take(_ section: PeerMedia, at index: Int) -> PeerMedia {
        var taken = section
        taken.index = index
        taken.mid = mid
        taken.codecs = renumbered(section.codecs)
        taken.formats = taken.codecs.map { String($0.payloadType.rawValue) }
        if taken.codecs.isEmpty { taken.formats = section.formats }
        taken.extensions = section.extensions.compactMap { mapping in
            if let known = extensions.first(where: { $0.uri == mapping.uri }) {
                return HeaderExtension(id: known.id, uri: mapping.uri, direction: mapping.direction)
            }
            return extensions.contains { $0.id == mapping.id } ? nil : mapping
        }
        return taken
    }

    /// Gives each format the payload type that it has in the session. A format keeps its own number if the session has
    /// the same format under it; else it takes the number of an equal format. Formats that the session does not know
    /// keep their numbers, or get free ones.
    private func renumbered(_ offered: [Codec]) -> [Codec] {
        var taken = PayloadTypeSet(codecs.map(\.payloadType))
        var numbers: [PayloadType: PayloadType] = [:]
        var used = PayloadTypeSet()
        for codec in offered
        where !codec.isRetransmission && codecs.codec(for: codec.payloadType)?.isSameFormat(as: codec) == true {
            numbers[codec.payloadType] = codec.payloadType
            used.insert(codec.payloadType)
        }
        for codec in offered where !codec.isRetransmission && numbers[codec.payloadType] == nil {
            if let known = codecs.first(where: { $0.isSameFormat(as: codec) && !used.contains($0.payloadType) }) {
                numbers[codec.payloadType] = known.payloadType
                used.insert(known.payloadType)
            }
        }
        for codec in offered where numbers[codec.payloadType] == nil {
            let original = numbers.first { codec.requiredPayloadTypes.contains($0.key) }?.value
            let known = codecs.first { repair in
                original.map { repair.isRetransmission && repair.requiredPayloadTypes.contains($0) } ?? false
            }
            if codec.isRetransmission, let known {
                numbers[codec.payloadType] = known.payloadType
            } else if let free = taken.firstFree(preferring: codec.payloadType) {
                taken.insert(free)
                numbers[codec.payloadType] = free
            }
        }
        return offered.compactMap { codec in
            guard let number = numbers[codec.payloadType] else { return nil }
            // Packets of red contain the payload types of their blocks (RFC 2198 §3), so red is dropped if those
            // change.
            if codec.isNamed("red"), numbers.contains(where: { $0 != $1 && codec.requiredPayloadTypes.contains($0) }) {
                return nil
            }
            guard number != codec.payloadType || codec.isRetransmission else { return codec }
            var renumbered = codec
            renumbered.payloadType = number
            if codec.isRetransmission,
                let original = numbers.first(where: { codec.requiredPayloadTypes.contains($0.key) })?.value
            {
                renumbered.parameters = codec.parameters(repairing: original)
            }
            return renumbered
        }
    }
}

extension Codec {
    /// The format parameters with `apt` set to another payload type (RFC 4588 §8.1); all other parameters are
    /// unchanged.
    fileprivate func parameters(repairing original: PayloadType) -> String? {
        parameters.map { text in
            text.split(separator: ";").map { field in
                field.drop { $0 == " " }.hasPrefix("apt=") ? "apt=\(original.rawValue)" : String(field)
            }.joined(separator: ";")
        }
    }
}
