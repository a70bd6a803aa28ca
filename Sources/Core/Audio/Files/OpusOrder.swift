package import Primitives

/// Puts the Opus packets of one sender in order for a file, without decoding them.
///
/// Packets wait until those before them have come, for about 60 ms. While nothing comes the file waits for two seconds,
/// the longest stall of a network that costs nothing. Then it goes on without what is missing, and what comes later
/// still is left out.
///
/// For a gap there are packets without content, in which a decoder conceals: positions in a file must not grow by more
/// than the samples of its packets (RFC 7845 §4.1). A gap is as long as the timestamps say.
///
/// The file is as long as the time that passes, whatever comes: a sender that sends more than the time has room for
/// loses the rest, also if its stream starts again and again. Nor may it send more bytes than Opus has.
package struct OpusOrder: Equatable, Sendable {
    /// A packet for the file.
    package struct Packet: Equatable, Sendable {
        /// The packet.
        package let bytes: [UInt8]
        /// Samples of 48 kHz that it decodes to, 120 to 5,760.
        package let samples: Int

        /// Makes a packet of its parts; each parameter is the property of that name.
        package init(bytes: [UInt8], samples: Int) {
            self.bytes = bytes
            self.samples = samples
        }
    }

    private struct Waiting: Equatable, Sendable {
        let timestamp: RTPTimestamp
        let packet: Packet
        /// When it came.
        let time: Int
    }

    private struct Mark: Equatable, Sendable {
        let timestamp: RTPTimestamp
        /// When it came.
        let time: Int
    }

    /// The samples of a cycle of 20 ms.
    private static let cycle = 960
    /// So many samples a packet waits for those before it.
    private static let patience = 3 * cycle
    /// After so many samples of nothing the file goes on: two seconds.
    private static let longestStall = 100 * cycle
    /// By so many samples packets may come late without a gap, and gaps are ahead of the time at most.
    private static let slack = 5 * cycle
    /// By so many samples the packets are ahead of the time at most: those that come late at the start of a stream have
    /// it ahead from then on.
    private static let lead = 15 * cycle
    /// After so many cycles in which all that comes is too late, the stream is taken as a new one: 500 ms. Its
    /// timestamps stood still, or one of them was far from the others.
    private static let lateness = 25
    /// The bytes of a cycle, 600 kbit/s. Opus has at most 510 (RFC 6716 §2.1.1).
    private static let bytesPerCycle = 1_500
    /// The most bytes that may come at once, after the longest stall.
    private static let mostBytes = 100 * bytesPerCycle
    /// Code 0, CELT, full band, one channel: with a frame of 20 ms (RFC 6716 §3.1).
    private static let plain: UInt8 = 31 << 3

    /// How many packets of Opus were left out: they were more than the time has room for, or came too late.
    package private(set) var dropped = 0
    /// In the order of their timestamps.
    private var waiting: [Waiting] = []
    /// The samples of those that wait.
    private var queued = 0
    /// What belongs into the file with the next cycle.
    private var due: [Packet] = []
    /// The samples that have passed.
    private var time = 0
    /// The samples of the packets that were handed out, or are due.
    private var written = 0
    /// The bytes that may come now.
    private var allowance = mostBytes
    /// The timestamp at the end of the file; `nil`: nothing is there of the stream.
    private var end: RTPTimestamp?
    /// The packet of the stream with the latest timestamp.
    private var newest: Mark?
    /// The first byte of a packet without content that follows the last one.
    private var empty = plain
    /// Something came for its place in this cycle.
    private var isTimely = false
    /// Something came too late in this cycle.
    private var isLate = false
    /// The cycles since something came for its place in which something came too late.
    private var lateCycles = 0

    /// Nothing has come.
    package init() {}

    /// A packet has come. What is no Opus packet, came before, comes too late or is more than the time has room for is
    /// left out.
    package mutating func insert(_ payload: Span<UInt8>, timestamp: RTPTimestamp) {
        guard let samples = OpusPacket.sampleCount(of: payload) else { return }
        follow(timestamp)
        if let end, end.isNewer(than: timestamp) {
            isLate = true
            dropped += 1
            return
        }
        isTimely = true
        // If the gateway is late, much comes before the cycles that it belongs to.
        guard written + queued + samples <= time + Self.longestStall, payload.count <= allowance else {
            dropped += 1
            return
        }
        let place = waiting.lastIndex { !$0.timestamp.isNewer(than: timestamp) }
        if let place, waiting[place].timestamp == timestamp { return }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(payload.count)
        for index in payload.indices { bytes.append(payload[index]) }
        let packet = Packet(bytes: bytes, samples: samples)
        waiting.insert(Waiting(timestamp: timestamp, packet: packet, time: time), at: place.map { $0 + 1 } ?? 0)
        queued += samples
        allowance -= payload.count
    }

    /// Follows the timestamps of the stream, which starts anew where they jump.
    private mutating func follow(_ timestamp: RTPTimestamp) {
        if let newest {
            let jump = timestamp - newest.timestamp
            if !SampleClock.goesOn(jump: Int64(jump), elapsed: Int64(time - newest.time)) {
                restart()
            } else if jump <= 0 {
                return
            }
        }
        newest = Mark(timestamp: timestamp, time: time)
    }

    /// Another 20 ms have passed.
    ///
    /// - Returns: what belongs at the end of the file.
    package mutating func pass() -> [Packet] {
        advance(1)
        if isTimely { lateCycles = 0 } else if isLate { lateCycles += 1 }
        (isTimely, isLate) = (false, false)
        if lateCycles >= Self.lateness { restart() }
        trim()
        // The first that has waited for long enough lets those before it go, too.
        let now = time
        if let patient = waiting.lastIndex(where: { now - $0.time > Self.patience }) {
            for _ in 0...patient { takeFirst() }
        }
        while let first = waiting.first, first.timestamp == end { takeFirst() }
        if waiting.isEmpty { fillWhole(time - Self.longestStall - written) }
        return takeDue()
    }

    /// Cycles were left out, because the gateway was late: time has passed, and what came meanwhile is still to come.
    ///
    /// - Parameter cycles: how many; of more than two seconds, two seconds.
    package mutating func skip(_ cycles: Int) { advance(min(max(0, cycles), Self.longestStall / Self.cycle)) }

    private mutating func advance(_ cycles: Int) {
        time += cycles * Self.cycle
        allowance = min(allowance + cycles * Self.bytesPerCycle, Self.mostBytes)
    }

    /// The stream starts anew, with other timestamps. What waits goes into the file before it.
    package mutating func restart() {
        trim()
        while !waiting.isEmpty { takeFirst() }
        (end, newest, lateCycles) = (nil, nil, 0)
    }

    /// Nothing more comes, or what comes is left out for a while.
    ///
    /// - Returns: what belongs at the end of the file before.
    package mutating func finish() -> [Packet] {
        restart()
        fill(time - Self.slack - written)
        return takeDue()
    }

    /// Leaves out the latest of those that wait, as far as the time has no room for them.
    private mutating func trim() {
        while written + queued > time + Self.lead, let last = waiting.popLast() {
            queued -= last.packet.samples
            dropped += 1
        }
    }

    private mutating func takeDue() -> [Packet] {
        defer { due = [] }
        return due
    }

    /// Has the first packet that waits go into the file, behind its gap.
    private mutating func takeFirst() {
        let first = waiting.removeFirst()
        // A stream starts in the file when it came.
        let gap = end.map { first.timestamp - $0 } ?? first.time - Self.slack - written
        fill(min(gap, time + Self.slack - written - queued))
        queued -= first.packet.samples
        put(first.packet)
        end = first.timestamp + first.packet.samples
        empty = first.packet.bytes[0] & 0xFC
    }

    private mutating func put(_ packet: Packet) {
        due.append(packet)
        written += packet.samples
        end = end.map { $0 + packet.samples }
    }

    /// Packets without content for so many samples; what is less than 2.5 ms is left out.
    private mutating func fill(_ samples: Int) {
        var left = samples - fillWhole(samples)
        // The rest is in the mode that has short frames.
        for header in [31 as UInt8, 30, 29, 28].map({ $0 << 3 | empty & 4 }) {
            left -= fill(left, header)
        }
    }

    /// Packets without content for so many samples, in the mode of the packet before; what is less than one of its
    /// frames is left out. Returns how many samples they have.
    @discardableResult
    private mutating func fillWhole(_ samples: Int) -> Int { fill(samples, empty) }

    private mutating func fill(_ samples: Int, _ header: UInt8) -> Int {
        let frame = OpusPacket.samplesPerFrame(header >> 3)
        let count = max(0, samples) / frame
        for _ in 0..<count { put(Packet(bytes: [header], samples: frame)) }
        return count * frame
    }
}
