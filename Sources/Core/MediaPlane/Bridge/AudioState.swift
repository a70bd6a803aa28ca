import Primitives
package import SDP

/// What the owner of a bridge needs to know about a leg's audio in order to decode or generate it.
package struct AudioState: Equatable, Sendable {
    /// The index of the leg's audio m-line.
    package var line: Int
    /// Whether the leg is headless: the owner makes its audio, and takes what it hears.
    package var isHeadless: Bool
    /// The source that the leg was set to hear.
    package var source: MediaSource
    /// What the leg is sent on the m-line because of that source.
    package var feed: LineFeed
    /// Whether the owner decodes this peer's audio.
    package var isDecoded: Bool
    /// Whether a peer is to hear this leg that is not connected yet: what the leg says meanwhile is heard by nobody.
    package var awaitsPeer: Bool
    /// The agreed codecs in the order of preference, as the peer described them.
    package var codecs: [Codec]
    /// Codecs that the gateway offered and the peer did not accept. The peer may still send them (RFC 3264 §5.1).
    package var furtherCodecs: [Codec]
    /// The packet durations that the peer wants.
    package var packetTime: PacketTime
}

extension Bridge {
    /// The state of the leg's first audio m-line that is not inactive; `nil` if there is none or no such leg.
    package func audio(of index: LegIndex) -> AudioState? {
        guard legs.indices.contains(index.place), self[index].isPresent,
            let line = self[index].lines.firstIndex(where: { $0.kind == .audio && $0.direction != .inactive })
        else { return nil }
        let state = self[index].lines[line]
        return AudioState(
            line: line, isHeadless: self[index].isHeadless, source: self[index].audioSource, feed: state.feed,
            isDecoded: state.isDecoded, awaitsPeer: state.obstacle == .peerNotReady,
            codecs: state.describedCodecs,
            furtherCodecs: state.furtherCodecs, packetTime: state.packetTime)
    }

    /// The transport of an m-line of a leg.
    package func transport(of index: LegIndex, line: Int) -> TransportNumber { self[index].lines[line].transport }

    /// Advances the timestamps of an m-line whose packets the gateway generates, because there is nothing to send.
    ///
    /// - Parameters:
    ///   - index: The leg.
    ///   - line: The index of the m-line.
    ///   - ticks: The duration of the pause in ticks of the codec's clock.
    package mutating func skipOriginated(for index: LegIndex, line: Int, ticks: Int) {
        self[index].lines[line].primary.skip(ticks: ticks)
    }
}
