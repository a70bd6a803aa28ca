import Primitives
import RTP

/// The clock rates of telephone events whose sender and receiver use different ones.
struct EventRates: Equatable, Sendable {
    /// The clock rate of the sender's durations in hertz.
    var sender: Int
    /// The clock rate of the receiver's durations in hertz.
    var receiver: Int
    /// The clock rate of the timestamps on both sides in hertz: that of the audio that the events accompany
    /// (RFC 4733 §2.1).
    var audio: Int

    /// The clock rates that are accepted, in hertz; with these, nothing overflows.
    private static let range = 1...1_000_000

    /// Makes rates; `nil` if one of them is out of range.
    init?(sender: Int, receiver: Int, audio: Int) {
        guard [sender, receiver, audio].allSatisfy(Self.range.contains) else { return nil }
        (self.sender, self.receiver, self.audio) = (sender, receiver, audio)
    }
}

/// Converts telephone events to the clock rate of their receiver (RFC 4733 §2.1).
///
/// Durations are scaled. Timestamps use the clock of the audio at either rate, so the timestamp of the start of an
/// event stays. An event that is too long for 16 bits continues in further segments, each with its own timestamp
/// (§2.5.1.3). The number of segments differs between the rates:
///
///     48 kHz   timestamp 0, duration 0…65,535 │ timestamp 65,535, duration 0…65,535 │ …
///     8 kHz    timestamp 0, duration 0…10,922                10,923…21,845            …
struct EventScaling: Sendable {
    private struct Event {
        var source: SSRC
        var code: UInt8
        /// The timestamp of the first segment.
        var start: RTPTimestamp
        /// The timestamp of the segment that came last.
        var segment: RTPTimestamp
        var isEnded: Bool
    }

    private static let longest = Int(UInt16.max)
    private var latest: Event?

    /// Scales the event of a packet.
    ///
    /// - Parameters:
    ///   - event: The event; its duration is changed.
    ///   - header: The header as its sender wrote it.
    ///   - rates: The clock rates.
    /// - Returns: The number to add to the packet's timestamp, in ticks of the audio.
    mutating func scale(_ event: inout TelephoneEvent, behind header: RTPHeader, _ rates: EventRates) -> Int {
        let elapsed = elapsed(before: event, header, rates)
        let length = (elapsed * rates.sender / rates.audio + Int(event.duration)) * rates.receiver / rates.sender
        let full = max(0, length - 1) / Self.longest
        event.duration = UInt16(clamping: length - full * Self.longest)
        return full * Self.longest * rates.audio / rates.receiver - elapsed
    }

    /// The time from the start of the event to the start of this packet's segment, in ticks of the audio.
    private mutating func elapsed(before event: TelephoneEvent, _ header: RTPHeader, _ rates: EventRates) -> Int {
        if var known = latest, known.source == header.ssrc {
            let isSame = known.code == event.event
            let lead = header.timestamp - known.segment
            if lead <= 0 {
                // A late packet shows nothing about further segments.
                if isSame, lead == 0, event.isEnd { latest?.isEnded = true }
                return isSame ? max(0, header.timestamp - known.start) : 0
            }
            if isSame, !known.isEnded, !header.marker, Self.isNextSegment(lead, rates) {
                (known.segment, known.isEnded) = (header.timestamp, event.isEnd)
                latest = known
                return max(0, header.timestamp - known.start)
            }
        }
        latest = Event(
            source: header.ssrc, code: event.event, start: header.timestamp, segment: header.timestamp,
            isEnded: event.isEnd)
        return 0
    }

    /// Whether a segment starts where 16 bits of duration end. Senders start it with the next packet, so it may be
    /// somewhat later.
    private static func isNextSegment(_ lead: Int, _ rates: EventRates) -> Bool {
        let whole = longest * rates.audio / rates.sender
        return whole - whole / 16...whole + whole / 8 ~= lead
    }
}
