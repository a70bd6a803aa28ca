package import RTP
package import SDP

/// A snapshot of the statistics of one leg.
package struct LegStatistics: Equatable, Sendable {
    /// The m-lines in their order.
    package var lines: [LineStatistics]
    /// RTP packets from this peer that were not relayed, by reason.
    package var drops: Tally<DropReason>
    /// RTCP packets from this peer that had no effect, by reason.
    package var controlDrops: Tally<ControlDropReason>
}

/// A snapshot of the statistics of one m-line of one leg.
package struct LineStatistics: Equatable, Sendable {
    /// The mid of the m-line.
    package var mid: String
    /// The media type of the m-line.
    package var kind: MediaKind
    /// What this peer is sent, and how.
    package var feed: LineFeed
    /// RTP packets from this peer, including retransmissions, relayed or not.
    package var packetsReceived: UInt64
    /// Payload octets of these packets.
    package var octetsReceived: UInt64
    /// Packets of this peer's media that were lost on the way to the gateway, as RFC 3550 §6.4.1 counts: duplicates
    /// make it less, even negative.
    package var packetsLost: Int64
    /// The interarrival jitter of the source heard last (RFC 3550 §6.4.1); zero before the first packet.
    package var jitter: Duration
    /// The codec of the source heard last; `nil` before the first packet.
    package var inboundCodec: Codec?
    /// The number of gaps in which packets were lost. Packets that came late make gaps, too.
    package var lossRuns: UInt64
    /// Statistics of this peer's video; `nil` before the first picture.
    package var pictures: PictureCounts?
    /// Statistics of the pictures that this peer misses; `nil` before the first packet sent to it.
    package var waits: PictureWaits?
    /// The audio level that this peer reports; `nil` while it reports none, or may not send.
    package var inboundLevel: ClientAudioLevel?
    /// RTP packets to this peer, including retransmissions.
    package var packetsSent: UInt64
    /// Payload octets of these packets.
    package var octetsSent: UInt64
    /// The codec that this peer is sent now; `nil` if it is sent nothing.
    package var outboundCodec: Codec?
    /// The level of the audio relayed to this peer, as the sender reports it; `nil` if the sender reports none, and for
    /// audio that the gateway generates.
    package var outboundLevel: ClientAudioLevel?
    /// This peer's last report about the gateway's media; `nil` before the first.
    package var remote: RemoteStatistics?
    /// The round trip between the gateway and this peer; `nil` before it is known.
    package var roundTrip: Duration?
}

/// Counts of the video that a peer sends (`PictureStatistics`).
package struct PictureCounts: Equatable, Sendable {
    /// The number of frames.
    package var frames: UInt64
    /// The number of key frames among them.
    package var keyFrames: UInt64
    /// The number of freezes: intervals between frames that are much longer than the mean (`PictureStatistics`).
    package var freezes: UInt64
    /// The duration of all freezes together.
    package var frozen: Duration

    /// Makes counts of their parts; each parameter is the property of that name.
    package init(frames: UInt64 = 0, keyFrames: UInt64 = 0, freezes: UInt64 = 0, frozen: Duration = .zero) {
        self.frames = frames
        self.keyFrames = keyFrames
        self.freezes = freezes
        self.frozen = frozen
    }
}

/// The content of a peer's last report about a stream of the gateway.
package struct RemoteStatistics: Equatable, Sendable {
    /// Packets lost since the stream started (RFC 3550 §6.4.1); negative if duplicates came.
    package var packetsLost: Int32
    /// The share of packets lost since the peer's report before, 0…1.
    package var fractionLost: Double
    /// The interarrival jitter at the peer.
    package var jitter: Duration
}

extension Bridge {
    /// The statistics of a leg so far. The call is cheap, but not meant for every packet.
    package func statistics(of side: LegIndex) -> LegStatistics {
        let leg = self[side]
        return LegStatistics(
            lines: leg.lines.indices.map { leg.statistics(line: $0, hearing: relayedLevel(to: side, line: $0)) },
            drops: leg.drops,
            controlDrops: leg.controlDrops)
    }
}

extension Bridge {
    /// The statistics of a leg's first audio m-line; `nil` if it has none. Nothing is allocated, since the quality of
    /// every call is rated once a second.
    package func audioStatistics(of side: LegIndex) -> LineStatistics? {
        let leg = self[side]
        return leg.lines.firstIndex { $0.kind == .audio }.map {
            leg.statistics(line: $0, hearing: relayedLevel(to: side, line: $0))
        }
    }

    private func relayedLevel(to side: LegIndex, line: Int) -> ClientAudioLevel? {
        guard case .relayed(let sender, let source) = self[side].lines[line].feed else { return nil }
        return self[sender].lines[source].level
    }
}

extension BridgeLeg {
    fileprivate func statistics(line index: Int, hearing relayedLevel: ClientAudioLevel?) -> LineStatistics {
        let line = lines[index]
        var latest: IncomingSource?
        var (lost, lossRuns) = (Int64(0), UInt64(0))
        for source in sources.entries
        where source.line == index && !source.isRetransmission && source.statistics.packets > 0 {
            lost += source.statistics.lost
            lossRuns &+= source.statistics.lossRuns
            if latest.map({ $0.lastHeard < source.lastHeard }) ?? true { latest = source }
        }
        return LineStatistics(
            mid: line.mid, kind: line.kind, feed: line.feed, packetsReceived: line.packetsReceived,
            octetsReceived: line.octetsReceived,
            packetsLost: lost, jitter: latest?.statistics.jitterDuration ?? .zero,
            inboundCodec: latest?.format.flatMap { line.codecs.codec(for: $0.payloadType) },
            lossRuns: lossRuns, pictures: PictureCounts(line.pictures),
            waits: line.kind == .video && line.primary.packets > 0 ? line.waits : nil,
            inboundLevel: line.direction.receives ? line.level : nil,
            packetsSent: line.primary.packets &+ (line.retransmission?.packets ?? 0),
            octetsSent: line.primary.octets &+ (line.retransmission?.octets ?? 0),
            outboundCodec: line.primary.payloadType.flatMap(line.codecs.codec), outboundLevel: relayedLevel,
            remote: line.primary.remoteStatistics, roundTrip: line.primary.roundTrip.latest)
    }
}

extension PictureCounts {
    fileprivate init?(_ statistics: PictureStatistics) {
        guard statistics.frames > 0 else { return nil }
        self.init(
            frames: statistics.frames, keyFrames: statistics.keyFrames, freezes: statistics.freezes,
            frozen: statistics.frozen)
    }
}

extension OutgoingStream {
    fileprivate var remoteStatistics: RemoteStatistics? {
        guard let report = lastReport else { return nil }
        return RemoteStatistics(
            packetsLost: report.cumulativeLost, fractionLost: Double(report.fractionLost) / 256,
            jitter: clockRate == 0 ? .zero : .nanoseconds(Int64(report.jitter) * 1_000_000_000 / Int64(clockRate)))
    }
}
