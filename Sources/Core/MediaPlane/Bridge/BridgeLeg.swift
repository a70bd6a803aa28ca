import Primitives
import RTP
import SDP

/// One leg of a bridged call: its m-lines, the sources of its peer, and the RTCP due to that peer.
struct BridgeLeg: Sendable {
    /// Whether there is a leg; `false` if the leg of this place has left.
    private(set) var isPresent = true
    /// The sources of what this peer hears and sees.
    var audioSource = MediaSource.silence
    var videoSource = MediaSource.silence
    /// The transports over which the peer can receive.
    var readyTransports: Set<TransportNumber> = []
    /// Whether the m-lines are on more than one transport.
    private(set) var isSpread = false
    private(set) var isConfigured = false
    /// Whether the leg has no peer, and its audio is that of the bridge's owner.
    var isHeadless = false
    /// The gateway's CNAME for this peer, for the life of the leg, in whichever call it is (RFC 3550 §6.5.1).
    let cname: String
    var lines: [BridgeLine] = []
    var sources = SourceTable()
    var schedule: ReportSchedule
    /// The pending feedback; `nil` unless this peer numbers its packets per transport.
    var transportFeedback: TransportFeedbackState?
    /// What is known about the path to this peer.
    var path = ReceiverPath()
    /// The rate of NACKs and of estimates of this peer that are passed on.
    var nackLimit = RateLimit()
    var estimateLimit = RateLimit()
    var drops = Tally<DropReason>()
    var controlDrops = Tally<ControlDropReason>()
    /// The offset from this peer's wall clock to the call's, added to its NTP timestamps modulo 2⁶⁴. It is set once, at
    /// the peer's first sender report, and applies to all its sources, which keeps them synchronous.
    private var clockAlignment: UInt64?
    /// The id of the extension with the MID (RFC 9143 §15), one for all m-lines of a BUNDLE group.
    private var midExtension: UInt8?

    /// The most announced sources; further ones of an SDP are not found by SSRC.
    private static let maximumAnnounced = 64

    init(cname: String, schedule: ReportSchedule) {
        self.cname = cname
        self.schedule = schedule
    }

    var hasVideo: Bool { lines.contains { $0.kind == .video && $0.direction != .inactive } }

    /// Frees the place.
    mutating func leave() {
        self = BridgeLeg(cname: cname, schedule: schedule)
        schedule.stop()
        isPresent = false
    }

    func source(of kind: MediaKind) -> MediaSource {
        switch kind {
        case .audio: audioSource
        case .video: videoSource
        case .other: .silence
        }
    }

    /// The m-line that receives media of `line` of another leg: the one with the same mid, else the one at the same
    /// place among the m-lines of its kind.
    func counterpart(of line: Int, on other: BridgeLeg) -> Int? {
        let (mid, kind) = (other.lines[line].mid, other.lines[line].kind)
        if let named = lines.firstIndex(where: { $0.mid == mid && $0.kind == kind }) { return named }
        let place = other.lines[..<line].count { $0.kind == kind }
        return lines.indices.filter { lines[$0].kind == kind }.dropFirst(place).first
    }

    // MARK: Negotiation

    mutating func configure(
        _ leg: NegotiatedLeg, _ configuration: Bridge.Configuration, random: inout some RandomSource
    ) {
        isConfigured = true
        let before = lines
        lines = leg.media.map { media in
            guard var line = before.first(where: { $0.mid == media.mid }) else {
                return BridgeLine(media, history: configuration.history, random: &random)
            }
            line.update(media, random: &random)
            return line
        }
        midExtension = leg.media.lazy.flatMap(\.extensions).first { $0.uri == HeaderExtension.mediaIdentification }?.id
        isSpread = lines.contains { $0.transport != .first }
        readyTransports.formIntersection([.first] + leg.furtherTransports.keys)
        transportFeedback = .after(leg, keeping: transportFeedback)
        sources.replaceAll(remainingSources(of: before))
        for (index, media) in leg.media.enumerated() where !media.isRejected {
            announce(media.remoteSources, line: index)
        }
        sources.forgetSurplus(maximumLearned: configuration.maximumLearnedSources)
    }

    /// The known sources whose m-line still exists. A source of a former `a=ssrc` counts as learnt from now on.
    private func remainingSources(of before: [BridgeLine]) -> [IncomingSource] {
        sources.entries.compactMap { source in
            guard let line = lines.firstIndex(where: { $0.mid == before[source.line].mid }) else { return nil }
            var source = source
            source.line = line
            source.isAnnounced = false
            source.format = nil
            return source
        }
    }

    private mutating func announce(_ announced: [AnnouncedSource], line: Int) {
        for source in announced {
            enter(source.ssrc, line: line, isRetransmission: false, repairs: nil)
            if let retransmission = source.retransmission {
                enter(retransmission, line: line, isRetransmission: true, repairs: source.ssrc)
            }
        }
    }

    private mutating func enter(_ ssrc: SSRC, line: Int, isRetransmission: Bool, repairs: SSRC?) {
        let index: Int
        if let known = sources.index(of: ssrc) {
            index = known
        } else {
            guard sources.entries.count(where: \.isAnnounced) < Self.maximumAnnounced else { return }
            index = sources.insert(
                IncomingSource(ssrc: ssrc, line: line, isRetransmission: isRetransmission, isAnnounced: true),
                maximumLearned: 0)
        }
        sources.entries[index].line = line
        sources.entries[index].isRetransmission = isRetransmission
        sources.entries[index].isAnnounced = true
        sources.entries[index].repairs = repairs
    }

    // MARK: Routing (RFC 9143 §9.2)

    /// The index of the source that a packet belongs to, by MID, then SSRC, then payload type. A new source is learnt.
    mutating func source(
        of header: RTPHeader, in packet: Span<UInt8>, maximumLearned: Int
    ) throws(DropReason) -> Int {
        let known = sources.index(of: header.ssrc)
        if let midExtension, let range = header.extensionElement(midExtension, in: packet) {
            return try source(of: header, known: known, namedBy: range, of: packet, maximumLearned: maximumLearned)
        }
        if let known {
            try settleFormat(of: known, header.payloadType)
            return known
        }
        return try learn(header, line: lineWithFormat(header.payloadType), maximumLearned: maximumLearned)
    }

    private mutating func source(
        of header: RTPHeader, known: Int?, namedBy range: Range<Int>, of packet: Span<UInt8>, maximumLearned: Int
    ) throws(DropReason) -> Int {
        if let known, lines[sources.entries[known].line].isNamed(by: range, of: packet) {
            try settleFormat(of: known, header.payloadType)
            return known
        }
        var named: Int?
        for index in lines.indices where lines[index].isNamed(by: range, of: packet) { named = index }
        guard let named else { throw .unknownMID }
        guard let known else { return try learn(header, line: named, maximumLearned: maximumLearned) }
        // The SSRC has moved to another m-line.
        guard let format = lines[named].format(header.payloadType) else { throw .unknownPayloadType }
        sources.entries[known].line = named
        sources.entries[known].format = format
        sources.entries[known].isRetransmission = format.isRetransmission
        return known
    }

    /// The only m-line with this payload type; throws if there is none or more than one.
    private func lineWithFormat(_ payloadType: PayloadType) throws(DropReason) -> Int {
        var found: Int?
        for index in lines.indices where lines[index].format(payloadType) != nil {
            guard found == nil else { throw .unknownSource }
            found = index
        }
        guard let found else { throw .unknownSource }
        return found
    }

    /// The same for m-lines on different transports. Those on other transports do not count, and may use the same
    /// payload types.
    mutating func source(
        of header: RTPHeader, in packet: Span<UInt8>, over transport: TransportNumber, maximumLearned: Int
    ) throws(DropReason) -> Int {
        if let known = sources.index(of: header.ssrc) {
            guard lines[sources.entries[known].line].transport == transport else { throw .unknownSource }
            try settleFormat(of: known, header.payloadType)
            return known
        }
        var candidates = lines.indices.filter { lines[$0].transport == transport && lines[$0].carriesMedia }
        if candidates.count > 1 {
            let name = midExtension.flatMap { header.extensionElement($0, in: packet) }
            candidates.removeAll { line in
                name.map { !lines[line].isNamed(by: $0, of: packet) } ?? (lines[line].format(header.payloadType) == nil)
            }
        }
        guard candidates.count == 1 else { throw .unknownSource }
        return try learn(header, line: candidates[0], maximumLearned: maximumLearned)
    }

    private mutating func learn(_ header: RTPHeader, line: Int, maximumLearned: Int) throws(DropReason) -> Int {
        guard let format = lines[line].format(header.payloadType) else { throw .unknownPayloadType }
        var source = IncomingSource(
            ssrc: header.ssrc, line: line, isRetransmission: format.isRetransmission, isAnnounced: false)
        source.format = format
        return sources.insert(source, maximumLearned: maximumLearned)
    }

    /// Sets the source's format to that of this packet.
    private mutating func settleFormat(of index: Int, _ payloadType: PayloadType) throws(DropReason) {
        if sources.entries[index].format?.payloadType == payloadType { return }
        guard let format = lines[sources.entries[index].line].format(payloadType),
            format.isRetransmission == sources.entries[index].isRetransmission
        else { throw .unknownPayloadType }
        sources.entries[index].format = format
    }

    // MARK: Queries

    /// Whether the peer can receive what is sent on an m-line.
    func isReady(_ line: Int) -> Bool { readyTransports.contains(lines[line].transport) }

    /// The m-line on which the gateway sends with this SSRC, and whether it is the SSRC of retransmissions; `nil` if
    /// the SSRC is none of the gateway's.
    func outgoing(_ ssrc: SSRC) -> (line: Int, isRetransmission: Bool)? {
        for index in lines.indices {
            if lines[index].primary.ssrc == ssrc { return (index, false) }
            if lines[index].retransmission?.ssrc == ssrc { return (index, true) }
        }
        return nil
    }

    /// The source of an m-line that was heard last; `nil` if none was.
    func lastHeardSource(line: Int) -> SSRC? {
        sources.entries.filter { $0.line == line && !$0.isRetransmission && $0.statistics.packets > 0 }
            .max { $0.lastHeard < $1.lastHeard }?.ssrc
    }

    // MARK: Reports of the peer

    /// Keeps a sender report, with its time converted to the call's clock; `false` if the source is unknown.
    mutating func senderReportReceived(_ report: SenderReport, wallClock: NTPTimestamp, at now: MonotonicTime) -> Bool {
        guard let index = sources.index(of: report.ssrc) else { return false }
        var ntp: NTPTimestamp?
        if report.ntp.rawValue != 0 {
            let alignment = clockAlignment ?? wallClock.rawValue &- report.ntp.rawValue
            clockAlignment = alignment
            ntp = NTPTimestamp(report.ntp.rawValue &+ alignment)
        }
        sources.entries[index].report = IncomingSource.ReceivedReport(
            compact: report.ntp.compact, ntp: ntp, timestamp: report.timestamp, moment: now)
        return true
    }
}
