import Primitives
import RTP
import SDP

/// The RTCP datagram that a bridge is writing (RFC 3550 §6.1): reports, SDES with the CNAME of everybody who reports, then what else
/// there is.
///
/// It keeps its memory, and takes back that of what was sent: a call says something every few seconds, and allocates nothing for it.
struct ControlDraft: Sendable {
    private var reports = ByteWriter(reserving: 0)
    /// One SDES packet per report, because some stacks lose the place in a packet of several chunks; and all that is no report.
    private var rest = ByteWriter(reserving: 0)
    private var blocks: [ReportBlock] = []
    private var spares: [[UInt8]] = []

    /// Of memory that was given back. What one input causes is rarely more datagrams than this.
    private static let maximumSpares = 4

    /// What the datagram goes over: reports about m-lines on different transports do not share one.
    var transport = TransportNumber.first

    var isEmpty: Bool { reports.count == 0 }

    /// Adds a report and who it is from; `false`, and nothing is added, if there is a report already and both would not fit `limit` bytes.
    mutating func append(_ report: RTCPPacket, from reporter: SourceDescription.Chunk, limit: Int) -> Bool {
        let (reportsEnd, restEnd) = (reports.count, rest.count)
        report.write(to: &reports)
        reporter.writePacket(to: &rest)
        guard reportsEnd > 0, reports.count + rest.count > limit else { return true }
        reports.truncate(to: reportsEnd)
        rest.truncate(to: restEnd)
        return false
    }

    /// Adds what is no report.
    mutating func append(_ packet: RTCPPacket) { packet.write(to: &rest) }

    /// The datagram; the draft is empty afterwards.
    mutating func finish() -> [UInt8] {
        reports.write(rest.bytes)
        rest.truncate(to: 0)
        return reports.take(goingOnIn: spares.popLast() ?? [])
    }

    /// The memory of a datagram that was sent, for another one.
    mutating func takeMemory() -> [UInt8] {
        var memory = spares.popLast() ?? []
        memory.removeAll(keepingCapacity: true)
        return memory
    }

    /// A datagram has been sent.
    mutating func recycle(_ datagram: consuming [UInt8]) {
        if spares.count < Self.maximumSpares { spares.append(datagram) }
    }

    // MARK: Blocks of a report

    /// An empty list in the memory of the last one.
    mutating func takeBlocks() -> [ReportBlock] {
        var taken: [ReportBlock] = []
        swap(&taken, &blocks)
        taken.removeAll(keepingCapacity: true)
        return taken
    }

    mutating func giveBack(_ list: consuming [ReportBlock]) { blocks = list }
}
