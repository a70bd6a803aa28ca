package import Primitives
package import RTP

/// What a stream sent a short while ago, before encryption, so that the gateway can answer a NACK itself (RFC 4585 §6.2.1).
///
/// The gateway acknowledges packets to their sender by transport-wide feedback. A sender forgets what was acknowledged, so only
/// the gateway can still repeat what gets lost between it and the receiver.
///
/// The bytes of the packets lie one after the other in a ring. The ring grows with the bit rate until it holds `reach`, or
/// reaches `maximumBytes`. The newest packets overwrite the oldest; nothing is allocated while the ring has its size.
package struct PacketHistory: Sendable {
    package struct Configuration: Equatable, Sendable {
        /// Packets older than this are not repeated: their receiver has asked for a key frame by then.
        package var reach = Duration.seconds(1)
        /// Bytes of the ring when the first packet comes, at least twice the largest packet.
        package var initialBytes = 65_536
        /// Bytes of the ring at most: one second of 8 Mbit/s. The ring doubles from `initialBytes` up to here.
        package var maximumBytes = 1_048_576
        /// How often one packet is repeated at most.
        package var maximumRepetitions: UInt8 = 10
        /// A packet is not repeated again before the first repetition can have arrived: the round trip, at least this long.
        package var minimumSpacing = Duration.milliseconds(10)

        package init() {}
    }

    /// What is known of a packet that a receiver asks for.
    package enum Recall: Equatable, Sendable {
        /// Nothing was sent under this number, or it was so long ago that its place has been taken.
        case unknown
        /// It was sent, and its bytes are gone or too old.
        case expired
        /// It was repeated just now, or often enough.
        case withheld
        /// The bytes to send again.
        case found(Range<Int>)
    }

    private struct Entry: Sendable {
        /// Where the packet begins, counted in bytes since the first packet.
        var start = 0
        /// 0 for a packet whose bytes are not kept.
        var count: UInt16 = 0
        var number = SequenceNumber(0)
        var repetitions: UInt8 = 0
        var isUsed = false
        var sentAt = MonotonicTime.zero
        var repeatedAt = MonotonicTime.zero
    }

    /// What Ethernet carries; larger packets are not kept.
    private static let maximumPacket = 1_500
    /// A ring has one entry for so many of its bytes: pictures of small streams come in packets of about that size.
    private static let bytesPerEntry = 512

    private let configuration: Configuration
    /// The ring; `Recall.found` says where a packet lies in it.
    package private(set) var bytes: [UInt8] = []
    /// By the low bits of the number.
    private var entries: [Entry] = []
    /// Every packet that was sent from this number on has its entry.
    private var oldest = SequenceNumber(0)
    private var newest = SequenceNumber(0)
    /// Packets before the oldest one have had their entries.
    private var hasForgotten = false
    /// Bytes written since the first packet, those skipped at the end of the ring included.
    private var written = 0
    /// When the ring was begun from its first byte.
    private var lapStart = MonotonicTime.zero

    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// Bytes that it takes up now.
    package var memory: Int { bytes.count + entries.count * MemoryLayout<Entry>.stride }

    // MARK: Keeping

    /// Keeps a packet as it was sent.
    package mutating func keep(_ packet: Span<UInt8>, as number: SequenceNumber, at now: MonotonicTime) {
        guard let start = reserve(packet.count, for: number, at: now) else { return }
        copy(packet, to: start)
    }

    /// Keeps the packet that a retransmission repeats: the retransmission without its original sequence number (RFC 4588 §4).
    ///
    /// - Parameters:
    ///   - header: The header of the original, which lies where that of the retransmission does.
    ///   - packet: The retransmission.
    package mutating func keep(recovered header: RTPHeader, from packet: Span<UInt8>, at now: MonotonicTime) {
        let payload = header.payloadRange.lowerBound
        guard let start = reserve(packet.count - 2, for: header.sequenceNumber, at: now) else { return }
        copy(packet.extracting(0..<payload), to: start)
        copy(packet.extracting((payload + 2)..<packet.count), to: start + payload)
        var kept = bytes.mutableSpan
        header.write(to: &kept, at: start)
    }

    /// Makes room for a packet; returns where its bytes go. `nil` if it is no packet that is kept.
    private mutating func reserve(_ count: Int, for number: SequenceNumber, at now: MonotonicTime) -> Int? {
        guard count >= RTPHeader.fixedLength else { return nil }
        if bytes.isEmpty { begin(with: number, at: now) }
        guard count <= Self.maximumPacket else {
            enter(Entry(number: number, isUsed: true, sentAt: now))
            return nil
        }
        if written % bytes.count + count > bytes.count { startLap(at: now) }
        enter(Entry(start: written, count: UInt16(count), number: number, isUsed: true, sentAt: now))
        defer { written += count }
        return written % bytes.count
    }

    /// Enters a packet, unless it is so late that its place is another one's.
    private mutating func enter(_ entry: Entry) {
        guard newest - entry.number < entries.count else { return }
        entries[Int(entry.number.rawValue) & (entries.count - 1)] = entry
        if entry.number.isNewer(than: newest) { newest = entry.number }
        guard newest - oldest >= entries.count else { return }
        oldest = newest + (1 - entries.count)
        hasForgotten = true
    }

    private mutating func copy(_ packet: Span<UInt8>, to start: Int) {
        var ring = bytes.mutableSpan
        for index in packet.indices { ring[start + index] = packet[index] }
    }

    // MARK: The ring

    private mutating func begin(with number: SequenceNumber, at now: MonotonicTime) {
        (oldest, newest) = (number, number)
        bytes = [UInt8](repeating: 0, count: configuration.initialBytes)
        entries = [Entry](repeating: Entry(), count: configuration.initialBytes / Self.bytesPerEntry)
        lapStart = now
    }

    /// Goes on at the first byte of the ring. A ring that was filled in less than `reach` doubles.
    private mutating func startLap(at now: MonotonicTime) {
        let size = bytes.count
        written += size - written % size
        if now - lapStart < configuration.reach, size < configuration.maximumBytes {
            grow()
            // The lap that was kept is the first half of the larger ring's: it goes on.
            if written % bytes.count != 0 { return }
        }
        lapStart = now
    }

    /// Doubles the ring at the end of a lap. A packet lies where its start says, modulo the size of the ring.
    private mutating func grow() {
        let size = bytes.count
        // The lap that has ended was the lower half of the larger ring, or the upper one.
        let empty = [UInt8](repeating: 0, count: size)
        let isLower = (written - size) % (2 * size) == 0
        bytes = isLower ? bytes + empty : empty + bytes
        // The next packet belongs behind the lap that was kept, which is where `written` points in either case.
        let kept = entries
        entries = [Entry](repeating: Entry(), count: 2 * kept.count)
        for var entry in kept where entry.isUsed {
            if entry.start < written - size { entry.count = 0 }
            entries[Int(entry.number.rawValue) & (entries.count - 1)] = entry
        }
    }

    // MARK: Repeating

    /// Whether a packet was kept under this number, or may have been so long ago that its place has been taken.
    package func mayHaveKept(_ number: SequenceNumber) -> Bool {
        guard !entries.isEmpty else { return false }
        if hasForgotten, number - oldest < 0 { return true }
        let entry = entries[Int(number.rawValue) & (entries.count - 1)]
        return entry.isUsed && entry.number == number
    }

    /// Whether nothing has been sent under this number, for sure: what came before the first packet that was kept may have been.
    package func lacks(_ number: SequenceNumber) -> Bool {
        !entries.isEmpty && number - oldest >= 0 && !mayHaveKept(number)
    }

    /// Looks up a packet to be sent again now, and notes that it is.
    ///
    /// - Parameter roundTrip: To the receiver and back; `nil` if it is not known.
    package mutating func recall(_ number: SequenceNumber, roundTrip: Duration?, at now: MonotonicTime) -> Recall {
        guard !entries.isEmpty else { return .unknown }
        let index = Int(number.rawValue) & (entries.count - 1)
        let entry = entries[index]
        guard entry.isUsed, entry.number == number else { return .unknown }
        guard entry.count > 0, entry.start >= written - bytes.count, now - entry.sentAt <= configuration.reach else {
            return .expired
        }
        let spacing = max(roundTrip ?? .zero, configuration.minimumSpacing)
        guard entry.repetitions < configuration.maximumRepetitions,
            entry.repetitions == 0 || now - entry.repeatedAt >= spacing
        else {
            return .withheld
        }
        entries[index].repetitions += 1
        entries[index].repeatedAt = now
        let start = entry.start % bytes.count
        return .found(start..<(start + Int(entry.count)))
    }
}
