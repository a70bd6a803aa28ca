/// The directions that a peer wants, apart from those that the other end allows.
extension PeerDescription {
    /// This answer with the directions that the peer wants instead of those that it could say.
    ///
    /// An answer says whether the peer wants to send only where the offer receives, and whether it wants to receive
    /// only where the offer sends (RFC 3264 §6.1). Where the offer leaves no choice, the peer's former wish stands. A
    /// peer that has said nothing about an m-line is taken to want both directions.
    ///
    /// - Parameters:
    ///   - offered: The direction of each offered m-line, as the offerer sees it.
    ///   - former: The peer's wishes before this answer; `nil` if it had said nothing.
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

/// The kinds and directions of a peer's usable m-lines, as another peer is told them. Comparing two outlines shows
/// whether that peer has to be told anew.
package struct MediaOutline: Equatable, Sendable {
    private struct Line: Equatable, Sendable {
        let kind: MediaKind
        let direction: MediaDirection
    }

    private var lines: [Line]

    /// Makes the outline that an offer on behalf of that peer conveys.
    package init(_ wishes: PeerDescription) {
        lines = wishes.usableMedia.map { Line(kind: $0.kind, direction: $0.direction) }
    }

    /// Makes the outline that an answer on behalf of that peer conveys, or `nil` if the offerer knew nothing before and
    /// this answer does not tell it everything.
    ///
    /// An answer has no place for more m-lines of a kind than the offer has. It conveys nothing about a direction for
    /// which the offer leaves no choice; what the offerer knew before stands there.
    ///
    /// - Parameters:
    ///   - wishes: The directions that the answerer wants.
    ///   - offer: The offer that is answered.
    ///   - before: What the offerer knew before; `nil` if it knew nothing.
    package init?(_ wishes: PeerDescription, answering offer: PeerDescription, before: MediaOutline?) {
        self.init(MediaOutline(wishes), answering: offer, before: before)
    }

    /// Makes the same outline for an answer that conveys `outline`, as far as the offer leaves a choice.
    package init?(_ outline: MediaOutline, answering offer: PeerDescription, before: MediaOutline?) {
        self = outline
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

    /// Makes the outline without the m-lines of the kinds in `lost`, which the peer could not take as they were
    /// offered.
    package init(_ wishes: PeerDescription, without lost: [MediaKind]) {
        self.init(wishes)
        lines.removeAll { lost.contains($0.kind) }
    }
}

extension MediaOutline: CustomStringConvertible {
    /// Kind and direction of each m-line for the log, for example `audio sendrecv, video inactive`.
    package var description: String {
        lines.map { "\($0.kind.token) \($0.direction.rawValue)" }.joined(separator: ", ")
    }
}
