import Primitives
import RTP

/// The clock rates of telephone events whose receiver counts their durations at another rate than their sender.
struct EventRates: Equatable, Sendable {
    /// Ticks per second of the sender's durations.
    var sender: Int
    /// Ticks per second of the receiver's durations.
    var receiver: Int
    /// Ticks per second of the timestamps on both sides: those of the audio that the events stand beside (RFC 4733 §2.1).
    var audio: Int

    /// What audio can have, in hertz; within it nothing overflows.
    private static let range = 1...1_000_000

    /// `nil` for a clock rate that cannot be one.
    init?(sender: Int, receiver: Int, audio: Int) {
        guard [sender, receiver, audio].allSatisfy(Self.range.contains) else { return nil }
        (self.sender, self.receiver, self.audio) = (sender, receiver, audio)
    }
}

/// Puts telephone events into the clock rate that their receiver knows (RFC 4733 §2.1).
///
/// Durations are scaled. The timestamps count like the audio, at whatever rate the events do, so that of an event's beginning stays.
/// An event that is too long for 16 bits goes on in further segments, each with a timestamp of its own (§2.5.1.3). How many it
/// takes is another number at each rate:
///
///     48 kHz   timestamp 0, duration 0…65,535 │ timestamp 65,535, duration 0…65,535 │ …
///     8 kHz    timestamp 0, duration 0…10,922                10,923…21,845            …
struct EventScaling: Sendable {
    private struct Event {
        var source: SSRC
        var code: UInt8
        /// Of the first segment.
        var start: RTPTimestamp
        /// Of the segment that came last.
        var segment: RTPTimestamp
        var isEnded: Bool
    }

    private static let longest = Int(UInt16.max)
    private var latest: Event?

    /// Scales the event of a packet.
    ///
    /// - Parameter header: The packet's, as its sender wrote it.
    /// - Returns: How far the packet's timestamp moves, in ticks of the audio.
    mutating func scale(_ event: inout TelephoneEvent, behind header: RTPHeader, _ rates: EventRates) -> Int {
        let elapsed = elapsed(before: event, header, rates)
        let length = (elapsed * rates.sender / rates.audio + Int(event.duration)) * rates.receiver / rates.sender
        let full = max(0, length - 1) / Self.longest
        event.duration = UInt16(clamping: length - full * Self.longest)
        return full * Self.longest * rates.audio / rates.receiver - elapsed
    }

    /// How long ago the event of this packet began when its segment did, in ticks of the audio.
    private mutating func elapsed(before event: TelephoneEvent, _ header: RTPHeader, _ rates: EventRates) -> Int {
        if var known = latest, known.source == header.ssrc {
            let isSame = known.code == event.event
            let lead = header.timestamp - known.segment
            if lead <= 0 {
                // A packet that is late says nothing of what comes.
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

    /// Whether a segment begins where 16 bits of duration end. Senders cut at the next packet, so it may be somewhat later.
    private static func isNextSegment(_ lead: Int, _ rates: EventRates) -> Bool {
        let whole = longest * rates.audio / rates.sender
        return whole - whole / 16...whole + whole / 8 ~= lead
    }
}
