package import Primitives
import RTP
import SDP

/// The hot path: one packet from one leg to the other, without an allocation.
extension Bridge {
    /// Rewrites a decrypted RTP packet for the other leg, in place.
    ///
    /// - Parameters:
    ///   - packet: A buffer that begins with the packet and may be larger.
    ///   - count: The length of the packet.
    package mutating func forward(
        _ packet: inout MutableSpan<UInt8>, count: Int, from side: BridgeSide, at now: MonotonicTime
    ) -> Forwarding {
        precondition(count <= packet.count, "the packet lies within its buffer")
        let lineInNeedOfKeyFrame: Int?
        do {
            switch side {
            case .a: lineInNeedOfKeyFrame = try Self.relay(&packet, count, from: &legA, to: &legB, configuration, at: now)
            case .b: lineInNeedOfKeyFrame = try Self.relay(&packet, count, from: &legB, to: &legA, configuration, at: now)
            }
        } catch {
            self[side].drops.count(error)
            return .drop(error)
        }
        if let line = lineInNeedOfKeyFrame { requestKeyFrame(from: side, line: line, as: .pictureLoss, at: now) }
        return .forward
    }

    /// Returns the m-line, if its source has come back and the receiver has lost what its pictures build on.
    private static func relay(
        _ packet: inout MutableSpan<UInt8>, _ count: Int, from: inout BridgeLeg, to: inout BridgeLeg, _ configuration: Configuration,
        at now: MonotonicTime
    ) throws(DropReason) -> Int? {
        guard from.isConfigured else { throw .notConfigured }
        var header: RTPHeader
        do { header = try RTPHeader(parsing: packet.span.extracting(0..<count)) } catch { throw .malformed }
        let index = try from.source(
            of: header, in: packet.span.extracting(0..<count), maximumLearned: configuration.maximumLearnedSources)
        guard let format = from.sources.entries[index].format else { throw .unknownPayloadType }

        let octets = header.payloadRange.count
        let line = from.sources.entries[index].line
        from.lines[line].packetReceived(octets: octets)
        let position = from.sources.entries[index].packetReceived(header, clockRate: format.clockRate, octets: octets, at: now)

        if let obstacle = from.lines[line].obstacle { throw obstacle }
        guard position != .astray else { throw .astray }
        guard let counterpart = from.lines[line].counterpart else { throw .noCounterpart }

        var needsKeyFrame = false
        if format.isRetransmission {
            try relayRetransmission(
                &header, &packet, count, repairing: from.sources.entries[index].repairs, position, through: &to.lines[counterpart], format,
                at: now)
        } else {
            needsKeyFrame = try relayPrimary(
                &header, source: index, position, in: &from.sources, through: &to.lines[counterpart], format, configuration, at: now)
        }
        header.write(to: &packet)
        return needsKeyFrame ? line : nil
    }

    /// Returns whether a video source has come back after another had its place.
    private static func relayPrimary(
        _ header: inout RTPHeader, source index: Int, _ position: ReceptionStatistics.Position, in sources: inout SourceTable,
        through line: inout BridgeLine, _ format: PayloadFormat, _ configuration: Configuration, at now: MonotonicTime
    ) throws(DropReason) -> Bool {
        var returns = false
        if line.primary.source != header.ssrc {
            guard position != .late else { throw .tooOld }
            let isSuperseded = sources.entries[index].isSuperseded
            if let current = line.primary.source {
                // Two sources at a time would take turns packet by packet: the newcomer keeps the stream while it sends.
                if isSuperseded, now - line.primary.lastSent < configuration.sourceSilence { throw .superseded }
                if let replaced = sources.index(of: current) { sources.entries[replaced].isSuperseded = true }
            }
            sources.entries[index].isSuperseded = false
            returns = isSuperseded && line.kind == .video
            // A talk spurt begins. In video the marker says that a picture ends (RFC 3551 §4.1, RFC 6184 §5.1).
            if line.kind == .audio, line.primary.packets > 0 { header.marker = true }
            line.primary.begin(header, clockRate: format.clockRate, at: now)
        } else if position == .restarted {
            line.primary.begin(header, clockRate: format.clockRate, at: now)
        }
        let (octets, offset) = (header.payloadRange.count, line.primary.timestampOffset)
        guard line.primary.translate(&header, octets: octets, timestampOffset: offset, at: now) else { throw .tooOld }
        return returns
    }

    /// The retransmission stream has numbers of its own, but the timestamp and the original number follow the primary stream
    /// (RFC 4588 §4).
    private static func relayRetransmission(
        _ header: inout RTPHeader, _ packet: inout MutableSpan<UInt8>, _ count: Int, repairing repaired: SSRC?,
        _ position: ReceptionStatistics.Position, through line: inout BridgeLine, _ format: PayloadFormat, at now: MonotonicTime
    ) throws(DropReason) {
        guard line.retransmission != nil else { throw .noRetransmission }
        guard let current = line.primary.source, repaired == nil || repaired == current else { throw .staleRetransmission }
        if line.retransmission?.source != header.ssrc || position == .restarted {
            guard position != .late else { throw .tooOld }
            line.retransmission?.begin(header, clockRate: format.clockRate, at: now)
        }
        let (octets, offset) = (header.payloadRange.count, line.primary.timestampOffset)
        // A packet of padding only, as senders use to probe, repeats nothing.
        if let original = header.originalSequenceNumber(in: packet.span.extracting(0..<count)) {
            guard let translated = line.primary.translateOriginal(original) else { throw .staleRetransmission }
            header.write(originalSequenceNumber: translated, to: &packet)
        }
        guard line.retransmission?.translate(&header, octets: octets, timestampOffset: offset, at: now) == true else { throw .tooOld }
    }
}
