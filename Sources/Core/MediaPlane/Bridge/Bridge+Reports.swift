import Primitives
import RTP
import SDP

/// The gateway's own reports and goodbyes (RFC 3550 §6.4, §6.6).
extension Bridge {
    /// A report that would make the datagram larger than this goes into the next one.
    private static var maximumDatagram: Int { 1200 }

    /// For each m-line: what the gateway sends on it, and what it hears of the peer's sources.
    mutating func sendReports(to side: LegIndex, at now: MonotonicTime) {
        var reports: [RTCPPacket] = []
        var size = 0
        for line in self[side].lines.indices {
            for report in lineReports(to: side, line: line, at: now) {
                let added = RTCPCompound([report] + describe([report], to: side)).bytes.count
                if size + added > Self.maximumDatagram, !reports.isEmpty {
                    transmit(reports + describe(reports, to: side), to: side)
                    (reports, size) = ([], 0)
                }
                reports.append(report)
                size += added
            }
        }
        // A peer that neither hears nor sends anything is still told that the gateway is there.
        if reports.isEmpty, size == 0, let sender = self[side].lines.first?.primary.ssrc {
            reports = [.receiverReport(ReceiverReport(ssrc: sender))]
        }
        guard !reports.isEmpty else { return }
        transmit(reports + describe(reports, to: side), to: side)
    }

    mutating func sendGoodbye(to side: LegIndex) {
        let leg = self[side]
        let senders = leg.lines.filter { $0.direction != .inactive }
            .flatMap { [$0.primary.ssrc, $0.retransmission?.ssrc].compactMap(\.self) }
        guard leg.isReady, let first = senders.first else { return }
        let reports = [RTCPPacket.receiverReport(ReceiverReport(ssrc: first))]
        transmit(reports + describe(reports, to: side) + [.goodbye(Goodbye(Array(senders.prefix(31))))], to: side)
    }

    /// SR or RR of the m-line's stream, and SR of its retransmission stream; nothing if there is nothing to say.
    private mutating func lineReports(to side: LegIndex, line: Int, at now: MonotonicTime) -> [RTCPPacket] {
        var reports: [RTCPPacket] = []
        let blocks = reportBlocks(about: side, line: line, at: now)
        let mapping = clockMapping(behind: self[side].lines[line])
        let (offset, wallTime) = (self[side].lines[line].primary.timestampOffset, wallClock.time(at: now))
        if var report = self[side].lines[line].primary.senderReport(
            from: mapping, timestampOffset: offset, fallback: wallTime, at: now)
        {
            report.blocks = blocks
            reports.append(.senderReport(report))
        } else if !blocks.isEmpty {
            reports.append(.receiverReport(ReceiverReport(ssrc: self[side].lines[line].primary.ssrc, blocks: blocks)))
        }
        if let report = self[side].lines[line].retransmission?.senderReport(
            from: mapping, timestampOffset: offset, fallback: wallTime, at: now)
        {
            reports.append(.senderReport(report))
        }
        return reports
    }

    /// Blocks about the sources of an m-line that were heard since the last report (RFC 3550 §6.4).
    private mutating func reportBlocks(about side: LegIndex, line: Int, at now: MonotonicTime) -> [ReportBlock] {
        var blocks: [ReportBlock] = []
        for index in self[side].sources.entries.indices where blocks.count < 31 {
            guard self[side].sources.entries[index].line == line, self[side].sources.entries[index].statistics.hasNews else { continue }
            blocks.append(self[side].sources.entries[index].reportBlock(at: now))
        }
        return blocks
    }

    private func clockMapping(behind line: BridgeLine) -> ClockMapping? {
        guard case .relayed(let sender, _) = line.feed, let source = line.primary.source,
            let index = self[sender].sources.index(of: source)
        else { return nil }
        return self[sender].sources.entries[index].clockMapping
    }

    /// SDES with the CNAME of everybody who reports (RFC 3550 §6.1): one packet each, because some stacks lose the place in a
    /// packet of several chunks.
    private func describe(_ reports: [RTCPPacket], to index: LegIndex) -> [RTCPPacket] {
        reports.compactMap { report in
            switch report {
            case .senderReport(let report): describe(report.ssrc, to: index)
            case .receiverReport(let report): describe(report.ssrc, to: index)
            case .sourceDescription, .goodbye, .genericNACK, .pictureLossIndication, .fullIntraRequest, .estimatedMaximumBitrate,
                .transportFeedback, .other:
                nil
            }
        }
    }

    func describe(_ ssrc: SSRC, to index: LegIndex) -> RTCPPacket {
        .sourceDescription(SourceDescription([SourceDescription.Chunk(ssrc: ssrc, cname: self[index].cname)]))
    }
}
