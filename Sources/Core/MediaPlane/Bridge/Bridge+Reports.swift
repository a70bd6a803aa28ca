import Primitives
import RTP
import SDP

/// The gateway's own reports and goodbyes (RFC 3550 §6.4, §6.6).
extension Bridge {
    /// The largest RTCP datagram in bytes; a report that would exceed it goes into the next one.
    private static var maximumDatagram: Int { 1200 }

    /// Sends the reports of a leg: for each m-line what the gateway sends on it (SR), and what it receives from the
    /// peer's sources. An m-line without either has no report.
    ///
    /// The legs are changed in their array here: the accessor behind `self[side]`, where it is not inlined, takes a
    /// frame from the heap.
    mutating func sendReports(to side: LegIndex, at now: MonotonicTime) {
        for line in legs[side.place].lines.indices where legs[side.place].isReady(line) {
            let transport = legs[side.place].lines[line].transport
            let blocks = reportBlocks(about: side, line: line, at: now)
            let mapping = clockMapping(behind: legs[side.place].lines[line])
            let (offset, wallTime) = (legs[side.place].lines[line].primary.timestampOffset, wallClock.time(at: now))
            let sender = legs[side.place].lines[line].primary.ssrc
            if var report = legs[side.place].lines[line].primary.senderReport(
                from: mapping, timestampOffset: offset, fallback: wallTime, at: now)
            {
                report.blocks = blocks
                add(.senderReport(report), from: sender, to: side, over: transport)
            } else if !blocks.isEmpty {
                let report = ReceiverReport(ssrc: sender, blocks: blocks)
                add(.receiverReport(report), from: sender, to: side, over: transport)
            }
            if let report = legs[side.place].lines[line].retransmission?.senderReport(
                from: mapping, timestampOffset: offset, fallback: wallTime, at: now)
            {
                add(.senderReport(report), from: report.ssrc, to: side, over: transport)
            }
            draft.giveBack(blocks)
        }
        // A peer that neither receives nor sends anything still learns that the gateway is there.
        if draft.isEmpty, let line = self[side].lines.first {
            let sender = line.primary.ssrc
            add(.receiverReport(ReceiverReport(ssrc: sender)), from: sender, to: side, over: line.transport)
        }
        transmitDraft(to: side)
    }

    mutating func sendGoodbye(to side: LegIndex) {
        let leg = self[side]
        guard !leg.isHeadless else { return }
        for transport in leg.readyTransports.sorted() {
            let senders = leg.lines.filter { $0.direction != .inactive && $0.transport == transport }
                .flatMap { [$0.primary.ssrc, $0.retransmission?.ssrc].compactMap(\.self) }
            guard let first = senders.first else { continue }
            add(.receiverReport(ReceiverReport(ssrc: first)), from: first, to: side, over: transport)
            draft.append(.goodbye(Goodbye(Array(senders.prefix(31)))))
            transmitDraft(to: side)
        }
    }

    /// Adds a report to the current datagram, or starts another one if it does not fit or has another transport.
    mutating func add(_ report: RTCPPacket, from sender: SSRC, to side: LegIndex, over transport: TransportNumber) {
        if draft.transport != transport {
            transmitDraft(to: side)
            draft.transport = transport
        }
        let reporter = SourceDescription.Chunk(ssrc: sender, cname: self[side].cname)
        if draft.append(report, from: reporter, limit: Self.maximumDatagram) { return }
        transmitDraft(to: side)
        _ = draft.append(report, from: reporter, limit: Self.maximumDatagram)
    }

    /// The report blocks about the sources of an m-line that were heard since the last report (RFC 3550 §6.4).
    private mutating func reportBlocks(about side: LegIndex, line: Int, at now: MonotonicTime) -> [ReportBlock] {
        var blocks = draft.takeBlocks()
        for index in legs[side.place].sources.entries.indices where blocks.count < 31 {
            guard legs[side.place].sources.entries[index].line == line,
                legs[side.place].sources.entries[index].statistics.hasNews
            else { continue }
            blocks.append(legs[side.place].sources.entries[index].reportBlock(at: now))
        }
        return blocks
    }

    private func clockMapping(behind line: BridgeLine) -> ClockMapping? {
        guard case .relayed(let sender, _) = line.feed, let source = line.primary.source,
            let index = self[sender].sources.index(of: source)
        else { return nil }
        return self[sender].sources.entries[index].clockMapping
    }
}
