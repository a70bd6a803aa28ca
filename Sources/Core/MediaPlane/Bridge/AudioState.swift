import Primitives
package import SDP

/// What the owner of a bridge has to know about a leg's audio in order to decode it or to make it.
package struct AudioState: Equatable, Sendable {
    /// The leg's audio m-line.
    package var line: Int
    package var source: MediaSource
    package var feed: LineFeed
    /// The owner listens to this peer.
    package var isDecoded: Bool
    /// In the order of preference, as the peer described them.
    package var codecs: [Codec]
    /// What the peer did not agree on and may send.
    package var furtherCodecs: [Codec]
    /// How much audio the peer wants in each packet.
    package var packetTime: PacketTime
}

extension Bridge {
    /// The state of the leg's first audio m-line; `nil` if it has none, or if there is no such leg.
    package func audio(of index: LegIndex) -> AudioState? {
        guard legs.indices.contains(index.place), self[index].isPresent,
            let line = self[index].lines.firstIndex(where: { $0.kind == .audio && $0.direction != .inactive })
        else { return nil }
        let state = self[index].lines[line]
        return AudioState(
            line: line, source: self[index].audioSource, feed: state.feed, isDecoded: state.isDecoded,
            codecs: state.describedCodecs,
            furtherCodecs: state.furtherCodecs, packetTime: state.packetTime)
    }

    /// The transport that an m-line of a leg is on.
    package func transport(of index: LegIndex, line: Int) -> TransportNumber { self[index].lines[line].transport }

    /// There is nothing to send for a while on an m-line whose packets are made here: its timestamps go on.
    package mutating func skipOriginated(for index: LegIndex, line: Int, ticks: Int) {
        self[index].lines[line].primary.skip(ticks: ticks)
    }
}
