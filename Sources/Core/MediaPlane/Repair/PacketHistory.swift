package import Primitives
package import RTP

/// The packets that a stream sent a short while ago, before encryption, so that the gateway can answer a NACK itself
/// (RFC 4585 §6.2.1).
///
/// The gateway acknowledges packets to their sender by transport-wide feedback, and a sender forgets acknowledged
/// packets. So only the gateway can retransmit packets that are lost between it and the receiver.
///
/// The packets are stored one after the other in a ring of bytes. The ring grows with the bit rate until it holds
/// `reach` or has `maximumBytes`. The newest packets overwrite the oldest; nothing is allocated while the ring keeps
/// its size.
package struct PacketHistory: Sendable {
    /// The limits of a history.
    package struct Configuration: Equatable, Sendable {
        /// The age up to which packets are retransmitted. The receiver of an older packet has asked for a key frame by
        /// then.
        package var reach = Duration.seconds(1)
        /// The size of the ring in bytes when the first packet comes; at least twice the largest packet.
        package var initialBytes = 65_536
        /// The largest size of the ring in bytes: one second at 8 Mbit/s. The ring doubles from `initialBytes` up to
        /// this size.
        package var maximumBytes = 1_048_576
        /// The most retransmissions of one packet.
        package var maximumRepetitions: UInt8 = 10
        /// The shortest time between two retransmissions of a packet. If the round trip is longer, it counts instead,
        /// so that the first retransmission can have arrived.
        package var minimumSpacing = Duration.milliseconds(10)

        /// Makes limits with the defaults.
        package init() {}
    }

    /// The result of looking up a packet that a receiver asks for.
    package enum Recall: Equatable, Sendable {
        /// No packet was sent under this number, or its entry has been reused.
        case unknown
        /// The packet was sent, but its bytes are overwritten or too old.
        case expired
        /// The packet was retransmitted just now, or often enough.
        case withheld
        /// The range of `bytes` to send again.
        case found(Range<Int>)
    }

    private struct Entry: Sendable {
        /// The position of the packet, in bytes since the first packet.
        var start = 0
        /// The length of the packet; 0 if its bytes are not kept.
        var count: UInt16 = 0
        var number = SequenceNumber(0)
        var repetitions: UInt8 = 0
        var isUsed = false
        var sentAt = MonotonicTime.zero
        var repeatedAt = MonotonicTime.zero
    }

    /// The payload size of Ethernet in bytes; larger packets are not kept.
    private static let maximumPacket = 1_500
    /// The bytes of the ring per entry. Packets of low-rate video have about this size.
    private static let bytesPerEntry = 512

    private let configuration: Configuration
    /// The ring; `Recall.found` is a range of it.
    package private(set) var bytes: [UInt8] = []
    /// The entries, by the low bits of the sequence number.
    private var entries: [Entry] = []
    /// Every packet sent from this number on has its entry.
    private var oldest = SequenceNumber(0)
    private var newest = SequenceNumber(0)
    /// Whether entries of packets before the oldest one have been reused.
    private var hasForgotten = false
    /// The bytes written since the first packet, including those skipped at the end of the ring.
    private var written = 0
    /// The time at which writing last started at the first byte of the ring.
    private var lapStart = MonotonicTime.zero

    /// Makes an empty history, which takes no memory for packets yet.
    package init(_ configuration: Configuration = Configuration()) { self.configuration = configuration }

    /// The bytes of memory in use.
    package var memory: Int { bytes.count + entries.count * MemoryLayout<Entry>.stride }

    // MARK: Keeping

    /// Keeps a packet as it was sent.
    package mutating func keep(_ packet: Span<UInt8>, as number: SequenceNumber, at now: MonotonicTime) {
        guard let start = reserve(packet.count, for: number, at: now) else { return }
        copy(packet, to: start)
    }

    /// Keeps the packet that a retransmission repeats: the retransmission without its original sequence number
    /// (RFC 4588 §4).
    ///
    /// - Parameters:
    ///   - header: The header of the original, as long as that of the retransmission.
    ///   - packet: The retransmission.
    ///   - now: The time of sending.
    package mutating func keep(recovered header: RTPHeader, from packet: Span<UInt8>, at now: MonotonicTime) {
        let payload = header.payloadRange.lowerBound
        guard let start = reserve(packet.count - 2, for: header.sequenceNumber, at: now) else { return }
        copy(packet.extracting(0..<payload), to: start)
        copy(packet.extracting((payload + 2)..<packet.count), to: start + payload)
        var kept = bytes.mutableSpan
        header.write(to: &kept, at: start)
    }

    /// Makes room for a packet and returns the index of its first byte; `nil` if a packet of this size is not kept.
    private mutating func reserve(_ count: Int, for number: SequenceNumber, at now: MonotonicTime) -> Int? {
        guard count >= RTPHeader.fixedLength else { return nil }
        if bytes.isEmpty { start(with: number, at: now) }
        guard count <= Self.maximumPacket else {
            enter(Entry(number: number, isUsed: true, sentAt: now))
            return nil
        }
        if written % bytes.count + count > bytes.count { startLap(at: now) }
        enter(Entry(start: written, count: UInt16(count), number: number, isUsed: true, sentAt: now))
        defer { written += count }
        return written % bytes.count
    }

    /// Enters a packet unless it is so late that a newer packet has its entry.
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

    private mutating func start(with number: SequenceNumber, at now: MonotonicTime) {
        (oldest, newest) = (number, number)
        bytes = [UInt8](repeating: 0, count: configuration.initialBytes)
        entries = [Entry](repeating: Entry(), count: configuration.initialBytes / Self.bytesPerEntry)
        lapStart = now
    }

    /// Continues at the first byte of the ring. A ring that was filled in less than `reach` doubles first.
    private mutating func startLap(at now: MonotonicTime) {
        let size = bytes.count
        written += size - written % size
        if now - lapStart < configuration.reach, size < configuration.maximumBytes {
            grow()
            // The lap that was kept is the first half of the larger ring, so the lap continues.
            if written % bytes.count != 0 { return }
        }
        lapStart = now
    }

    /// Doubles the ring at the end of a lap. The position of a packet in the ring is its start modulo the size of the
    /// ring.
    private mutating func grow() {
        let size = bytes.count
        // The lap that has ended was either the lower or the upper half of the larger ring.
        let empty = [UInt8](repeating: 0, count: size)
        let isLower = (written - size) % (2 * size) == 0
        bytes = isLower ? bytes + empty : empty + bytes
        // The next packet comes after the lap that was kept; `written` points there in either case.
        let kept = entries
        entries = [Entry](repeating: Entry(), count: 2 * kept.count)
        for var entry in kept where entry.isUsed {
            if entry.start < written - size { entry.count = 0 }
            entries[Int(entry.number.rawValue) & (entries.count - 1)] = entry
        }
    }

    // MARK: Repeating

    /// Whether a packet was kept under this number, or may have been so long ago that its entry has been reused.
    package func mayHaveKept(_ number: SequenceNumber) -> Bool {
        guard !entries.isEmpty else { return false }
        if hasForgotten, number - oldest < 0 { return true }
        let entry = entries[Int(number.rawValue) & (entries.count - 1)]
        return entry.isUsed && entry.number == number
    }

    /// Whether certainly no packet has been sent under this number. It is `false` for numbers before the first kept
    /// packet, since they may have been sent.
    package func lacks(_ number: SequenceNumber) -> Bool {
        !entries.isEmpty && number - oldest >= 0 && !mayHaveKept(number)
    }

    /// The time at which the packet was first sent; `nil` if its entry has been reused, or no packet was sent under
    /// this number.
    package func sentAt(_ number: SequenceNumber) -> MonotonicTime? {
        guard !entries.isEmpty else { return nil }
        let entry = entries[Int(number.rawValue) & (entries.count - 1)]
        return entry.isUsed && entry.number == number ? entry.sentAt : nil
    }

    /// Looks up a packet to be sent again now, and counts the retransmission.
    ///
    /// - Parameters:
    ///   - number: The sequence number that the receiver asks for.
    ///   - roundTrip: The time to the receiver and back; `nil` if it is not known.
    ///   - now: The time.
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
