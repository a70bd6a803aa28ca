package import Primitives
package import RTP

/// Reassembles the DTMF digits that a peer presses from its telephone event packets, of which some may be lost,
/// duplicated or late (RFC 4733 §2.5.2).
///
/// All packets of an event have the timestamp of its start, which identifies the event. The first packet that arrives
/// starts a digit, even if it is the last one of its event. Each packet with a longer duration extends the digit, and
/// the first packet with the E bit ends it. The receiver of the changes decides how long to wait for an end that never
/// arrives (`DigitQueue`).
package struct DigitReception: Sendable {
    /// What a packet has changed. Lengths are in samples of 48 kHz since the digit was pressed.
    package enum Change: Equatable, Sendable {
        /// A digit was pressed. A digit before it that has not ended ends now.
        case started(Character, length: Int, isEnd: Bool)
        /// The digit is still pressed, and has this length by now.
        case lasts(length: Int)
        /// The digit was released, and has this length.
        case ended(length: Int)
    }

    private struct Digit {
        var event: UInt8
        /// The timestamp of the event, or of the current segment of a long event (RFC 4733 §2.5.1.3).
        var timestamp: RTPTimestamp
        /// The duration of the segments before, in ticks.
        var before = 0
        /// The duration of this segment, in ticks.
        var duration: Int
        var isEnded: Bool

        /// Whether the packet is of the next segment of an event that is too long for one segment. Such a segment
        /// starts, without a marker, where the 16 bits of duration end. Senders cut at the next packet, so it may start
        /// somewhat later.
        func isContinued(by event: TelephoneEvent, _ isMarked: Bool, at timestamp: RTPTimestamp) -> Bool {
            !isEnded && !isMarked && self.event == event.event && 0xF000...0x1_2000 ~= timestamp - self.timestamp
        }
    }

    private var latest: Digit?

    /// No digit has been received.
    package init() {}

    /// Forgets the last digit, because the source changes and the timestamps of two sources are unrelated.
    package mutating func restart() { latest = nil }

    /// Takes a telephone event packet.
    ///
    /// - Parameters:
    ///   - event: The payload.
    ///   - isMarked: Whether the packet has the marker bit: an event starts.
    ///   - timestamp: The RTP timestamp of the packet.
    ///   - clockRate: Ticks per second of the event's duration; a divisor of 48,000, or nearly so.
    /// - Returns: What has changed; `nil` if the packet has nothing new, or its event is no DTMF digit.
    package mutating func receive(_ event: TelephoneEvent, isMarked: Bool, at timestamp: RTPTimestamp, clockRate: Int)
        -> Change?
    {
        guard let digit = event.digit, clockRate > 0 else { return nil }
        let duration = Int(event.duration)
        if var current = latest,
            !timestamp.isNewer(than: current.timestamp) || current.isContinued(by: event, isMarked, at: timestamp)
        {
            // The packet is of an older digit, of which everything has been reported, or has nothing new.
            guard !current.isEnded, current.event == event.event, !current.timestamp.isNewer(than: timestamp) else {
                return nil
            }
            if timestamp != current.timestamp {
                current.before += timestamp - current.timestamp
                current.timestamp = timestamp
                current.duration = 0
            }
            guard event.isEnd || duration > current.duration else { return nil }
            current.duration = max(current.duration, duration)
            current.isEnded = event.isEnd
            latest = current
            let length = Self.samples(current.before + current.duration, clockRate)
            return event.isEnd ? .ended(length: length) : .lasts(length: length)
        }
        latest = Digit(event: event.event, timestamp: timestamp, duration: duration, isEnded: event.isEnd)
        return .started(digit, length: Self.samples(duration, clockRate), isEnd: event.isEnd)
    }

    private static func samples(_ ticks: Int, _ clockRate: Int) -> Int { ticks * 48_000 / clockRate }
}
