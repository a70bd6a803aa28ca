package import RTP
package import SDP

/// A snapshot of one leg of a bridge.
package struct LegStatistics: Equatable, Sendable {
    package var lines: [LineStatistics]
    /// RTP from this peer that was not forwarded.
    package var drops: Tally<DropReason>
    /// RTCP from this peer that was not acted on.
    package var controlDrops: Tally<ControlDropReason>
}

/// A snapshot of one m-line of one leg.
package struct LineStatistics: Equatable, Sendable {
    package var mid: String
    package var kind: MediaKind
    /// What this peer is sent, and how.
    package var feed: LineFeed
    /// From this peer, retransmissions included, forwarded or not. Octets are payload octets.
    package var packetsReceived: UInt64
    package var octetsReceived: UInt64
    /// Of this peer's media, on its way to the gateway.
    package var packetsLost: Int64
    /// Of the source heard last.
    package var jitter: Duration
    /// Of the source heard last; `nil` before the first.
    package var inboundCodec: Codec?
    /// In so many stretches they were lost; packets that came late make stretches, too.
    package var lossRuns: UInt64
    /// From this peer; `nil` before the first picture.
    package var pictures: PictureCounts?
    /// What this peer misses of the video that it is sent; `nil` before the first packet.
    package var waits: PictureWaits?
    /// How loud this peer says that its audio is; `nil` while it says nothing of that kind, or may send none.
    package var inboundLevel: ClientAudioLevel?
    /// To this peer, retransmissions included. Octets are payload octets.
    package var packetsSent: UInt64
    package var octetsSent: UInt64
    /// What it is sent now; `nil` if that is nothing.
    package var outboundCodec: Codec?
    /// How loud the audio that is relayed to it is, as its sender says; `nil` where that says nothing, and for what is made here.
    package var outboundLevel: ClientAudioLevel?
    /// What this peer reports about the gateway's media; `nil` before its first report.
    package var remote: RemoteStatistics?
    /// Between the gateway and this peer; `nil` before it can be known.
    package var roundTrip: Duration?
}

/// What came of pictures (`PictureStatistics`).
package struct PictureCounts: Equatable, Sendable {
    package var frames: UInt64
    package var keyFrames: UInt64
    package var freezes: UInt64
    /// How long all freezes were.
    package var frozen: Duration

    package init(frames: UInt64 = 0, keyFrames: UInt64 = 0, freezes: UInt64 = 0, frozen: Duration = .zero) {
        self.frames = frames
        self.keyFrames = keyFrames
        self.freezes = freezes
        self.frozen = frozen
    }
}

/// What a peer's last report says about a stream of the gateway.
package struct RemoteStatistics: Equatable, Sendable {
    package var packetsLost: Int32
    /// Since its report before, 0…1.
    package var fractionLost: Double
    package var jitter: Duration
}

extension Bridge {
    /// What happened on a leg so far. Cheap, but not for every packet.
    package func statistics(of side: LegIndex) -> LegStatistics {
        let leg = self[side]
        return LegStatistics(
            lines: leg.lines.indices.map { leg.statistics(line: $0, hearing: relayedLevel(to: side, line: $0)) },
            drops: leg.drops,
            controlDrops: leg.controlDrops)
    }
}

extension Bridge {
    /// Of a leg's first m-line of audio; `nil` without one. Allocates nothing: every call is rated once a second.
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
