import Primitives
import RTP
import SDP

/// The RTCP datagram that a bridge is writing (RFC 3550 §6.1): reports, SDES with the CNAME of every reporter, then all
/// other packets.
///
/// The draft keeps its memory and takes back that of sent datagrams. A call sends RTCP every few seconds and allocates
/// nothing for it.
struct ControlDraft: Sendable {
    private var reports = ByteWriter(reserving: 0)
    /// One SDES packet per report, because some stacks misparse a packet of several chunks; and all packets that are no
    /// reports.
    private var rest = ByteWriter(reserving: 0)
    private var blocks: [ReportBlock] = []
    private var spares: [[UInt8]] = []

    /// The most memory blocks that are kept. An input rarely causes more datagrams than this.
    private static let maximumSpares = 4

    /// The transport of the datagram. Reports about m-lines on different transports are not in one datagram.
    var transport = TransportNumber.first

    var isEmpty: Bool { reports.count == 0 }

    /// Adds a report and the CNAME of its reporter. `false`, and no change, if the datagram has a report already and
    /// would exceed `limit` bytes.
    mutating func append(_ report: RTCPPacket, from reporter: SourceDescription.Chunk, limit: Int) -> Bool {
        let (reportsEnd, restEnd) = (reports.count, rest.count)
        report.write(to: &reports)
        reporter.writePacket(to: &rest)
        guard reportsEnd > 0, reports.count + rest.count > limit else { return true }
        reports.truncate(to: reportsEnd)
        rest.truncate(to: restEnd)
        return false
    }

    /// Adds a packet that is no report.
    mutating func append(_ packet: RTCPPacket) { packet.write(to: &rest) }

    /// Returns the datagram; the draft is empty afterwards.
    mutating func finish() -> [UInt8] {
        reports.write(rest.bytes)
        rest.truncate(to: 0)
        return reports.take(goingOnIn: spares.popLast() ?? [])
    }

    /// The memory of a sent datagram, or new memory, for another one.
    mutating func takeMemory() -> [UInt8] {
        var memory = spares.popLast() ?? []
        memory.removeAll(keepingCapacity: true)
        return memory
    }

    /// Takes back the memory of a sent datagram.
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
