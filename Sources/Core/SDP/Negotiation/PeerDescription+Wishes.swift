/// What a peer wants of its media, apart from what the other end lets it have.
extension PeerDescription {
    /// The wishes that an answer shows.
    ///
    /// An answer says whether the peer wants to send only where the offer receives, and whether it wants to receive only where the
    /// offer sends (RFC 3264 §6.1). Where the offer left no choice, the peer's former wish stands; of an m-line that it has said
    /// nothing about, it is taken to want everything.
    ///
    /// - Parameters:
    ///   - offered: The direction of each offered m-line, as the offerer sees it.
    ///   - former: What the peer wanted before.
    package func wishes(answering offered: [MediaDirection], before former: PeerDescription?) -> PeerDescription {
        var wishes = self
        for index in wishes.media.indices where wishes.media[index].refusal == nil {
            let choice = index < offered.count ? offered[index] : .sendReceive
            let said = media[index].direction
            let before = former?.wish(at: index, of: media[index].kind) ?? .sendReceive
            wishes.media[index].direction = MediaDirection(
                sends: choice.receives ? said.sends : before.sends,
                receives: choice.sends ? said.receives : before.receives)
        }
        return wishes
    }

    private func wish(at index: Int, of kind: MediaKind) -> MediaDirection? {
        guard index < media.count, media[index].kind == kind, media[index].refusal == nil else { return nil }
        return media[index].direction
    }
}

/// The kinds and directions of a peer's m-lines, as somebody else is told them.
package struct MediaOutline: Equatable, Sendable {
    private struct Line: Equatable, Sendable {
        let kind: MediaKind
        let direction: MediaDirection
    }

    private var lines: [Line]

    /// What an offer on behalf of that peer tells.
    package init(_ wishes: PeerDescription) {
        lines = wishes.usableMedia.map { Line(kind: $0.kind, direction: $0.direction) }
    }

    /// What an answer on behalf of that peer tells. It has no place for more m-lines of a kind than the offer has, and says nothing of a
    /// direction that the offer leaves no choice about.
    ///
    /// - Parameter before: What the offerer knew before; `nil`: nothing.
    /// - Returns: `nil` if the offerer knew nothing, and does not know all of it now.
    package init?(_ wishes: PeerDescription, answering offer: PeerDescription, before: MediaOutline?) {
        self.init(wishes)
        var told: [Line] = []
        for line in lines {
            let place = told.count { $0.kind == line.kind }
            let offered = offer.media.filter { $0.kind == line.kind }
            guard place < offered.count else { continue }
            if before == nil, offered[place].direction != .sendReceive { return nil }
            let known = (before?.lines ?? []).filter { $0.kind == line.kind }
            let former = place < known.count ? known[place].direction : line.direction
            let asked = offered[place].direction
            let direction = MediaDirection(
                sends: asked.receives ? line.direction.sends : former.sends,
                receives: asked.sends ? line.direction.receives : former.receives)
            told.append(Line(kind: line.kind, direction: direction))
        }
        lines = told
    }

    /// Without the m-lines that a peer could not take as they were offered.
    package init(_ wishes: PeerDescription, without lost: [MediaKind]) {
        self.init(wishes)
        lines.removeAll { lost.contains($0.kind) }
    }
}

extension MediaOutline: CustomStringConvertible {
    package var description: String {
        lines.map { "\($0.kind.token) \($0.direction.rawValue)" }.joined(separator: ", ")
    }
}
