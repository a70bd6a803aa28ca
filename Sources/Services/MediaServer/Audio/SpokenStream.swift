internal import Audio
internal import MediaPlane
internal import Primitives
internal import RTP

/// The RTP stream that the gateway sends to one leg: the headers of its packets, and time that passes without a packet.
struct SpokenStream {
    /// The index of the leg's m-line of audio.
    let line: Int
    let format: AudioFormat
    /// Whether the next packet starts a talk spurt (RFC 3551 §4.1).
    private(set) var isSpurt: Bool

    init(line: Int, format: AudioFormat, isSpurt: Bool) {
        self.line = line
        self.format = format
        self.isSpurt = isSpurt
    }

    /// Writes the header of a packet whose payload of `count` bytes is in place already. Returns the size of the
    /// packet.
    ///
    /// - Parameters:
    ///   - samples: Samples of 48 kHz until the next packet.
    ///   - isMarked: Whether the packet starts a talk spurt or a telephone event, and has the marker bit.
    mutating func write(
        _ payloadType: PayloadType, _ samples: Int, _ count: Int, isMarked: Bool, in packet: inout MutableSpan<UInt8>,
        for leg: LegIndex, on bridge: inout Bridge, at now: MonotonicTime
    ) -> Int {
        let header = bridge.originate(
            for: leg, line: line, payloadType, clockRate: UInt32(format.clockRate), ticks: format.ticks(of: samples),
            octets: count, isSpurt: isMarked, at: now)
        header.writeNew(to: &packet)
        isSpurt = false
        return RTPHeader.fixedLength + count
    }

    /// Advances the timestamp by `samples` of 48 kHz without audio; the next packet starts a talk spurt.
    mutating func skip(_ samples: Int, for leg: LegIndex, on bridge: inout Bridge) {
        pass(samples, for: leg, on: &bridge)
        isSpurt = true
    }

    /// Advances the timestamp by `samples` of 48 kHz within a talk spurt or an event.
    func pass(_ samples: Int, for leg: LegIndex, on bridge: inout Bridge) {
        bridge.skipOriginated(for: leg, line: line, ticks: format.ticks(of: samples))
    }

    /// Ends a talk spurt: the next packet starts another one.
    mutating func endSpurt() { isSpurt = true }
}
