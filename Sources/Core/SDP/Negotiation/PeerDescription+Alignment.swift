import Primitives

/// Bringing what one peer said into the form of another peer's session.
///
/// Two legs that grew up together have the same m-lines, mids and payload types, and nothing changes. Legs that were joined later, by
/// a transfer for example, do not: to each peer, m-lines keep their place, their mid and the meaning of their payload types for as
/// long as its session lasts (RFC 3264 §8, RFC 8829 §5.2.2).
extension PeerDescription {
    /// This description as if it had been said in the session of another leg.
    ///
    /// - Parameter session: what that leg agreed on so far; empty: nothing, and the description stays as it is.
    package func aligned(to session: [NegotiatedMedia]) -> PeerDescription {
        guard !session.isEmpty else { return self }
        return aligned(
            to: session.map { Place(mid: $0.mid, kind: $0.kind, codecs: $0.codecs, extensions: $0.extensions) },
            isOpenEnded: true)
    }

    /// This answer in the form of the offer of another leg's peer: one m-line for each of the offer's. Those that the gateway refuses were
    /// not offered on, so nothing of the answer is about them.
    ///
    /// - Parameter keepingUnknown: An m-line that this description does not speak of is there with all its codecs, `inactive`, and so is
    ///   one that this peer could only not take as it was offered.
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

    /// The same wishes, with every m-line that carries something open in both directions.
    package func opened() -> PeerDescription {
        var opened = self
        for index in opened.media.indices where opened.media[index].refusal == nil {
            opened.media[index].direction = .sendReceive
        }
        return opened
    }

    /// The same wishes, as somebody hears them who is rung: a hold is not part of an introduction.
    package func introduced() -> PeerDescription { principalDirection == .sendReceive ? self : opened() }

    /// The direction of the audio, or of all there is if there is no audio; `nil` if nothing is carried.
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
        // Whether they share a transport is said of them where they come from.
        aligned.groups = []
        return aligned
    }

    /// Which m-line takes each place: that of the same name and kind, else the first one of the kind, rather one that carries something.
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

/// An m-line of the session that a description is brought into.
private struct Place {
    var mid: String
    var kind: MediaKind
    var codecs: [Codec]
    var extensions: [HeaderExtension]
    /// It stays empty.
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

    /// Formats that the session knows get the numbers they have there, rather their own than that of another of the same meaning; others
    /// keep theirs, or get free ones.
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
            // The packets of red repeat the numbers of what is in them (RFC 2198 §3).
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
    /// `apt` with another number (RFC 4588 §8.1), and whatever else there is.
    fileprivate func parameters(repairing original: PayloadType) -> String? {
        parameters.map { text in
            text.split(separator: ";").map { field in
                field.drop { $0 == " " }.hasPrefix("apt=") ? "apt=\(original.rawValue)" : String(field)
            }.joined(separator: ";")
        }
    }
}
