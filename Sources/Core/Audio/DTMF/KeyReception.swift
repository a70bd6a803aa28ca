package import Primitives
package import RTP

/// The keys that a peer presses, made whole from its event packets, whatever of them is lost, doubled or late (RFC 4733 §2.5.2).
///
/// All packets of an event have the timestamp of its beginning, by which it is known. The first packet that comes tells of a key, even if it
/// is the last of its event; each that knows more of its length tells that, and the first end that comes is the end. Whether an end
/// that never comes is waited for is for the receiver of the changes to say (`DigitQueue`).
package struct KeyReception: Sendable {
    /// Lengths are in samples of 48 kHz, since the key was pressed.
    package enum Change: Equatable, Sendable {
        /// A key was pressed; one before it that has not ended has ended now.
        case began(Character, length: Int, isEnd: Bool)
        case lasts(length: Int)
        case ended(length: Int)
    }

    private struct Key {
        var event: UInt8
        /// Of the beginning, or of the segment of a long event that is under way (RFC 4733 §2.5.1.3).
        var timestamp: RTPTimestamp
        /// Of the segments before, in ticks.
        var before = 0
        /// Of this segment, in ticks.
        var duration: Int
        var isEnded: Bool

        /// Whether this is the next segment of an event that is too long for one: it begins, without a marker, where 16 bits of
        /// duration end. Senders cut at the next packet, so it may be somewhat later.
        func isContinued(by event: TelephoneEvent, _ isMarked: Bool, at timestamp: RTPTimestamp) -> Bool {
            !isEnded && !isMarked && self.event == event.event && 0xF000...0x1_2000 ~= timestamp - self.timestamp
        }
    }

    private var key: Key?

    package init() {}

    /// The source is another one: its timestamps have nothing to do with those of before.
    package mutating func restart() { key = nil }

    /// - Parameters:
    ///   - isMarked: The packet has the marker: an event begins.
    ///   - clockRate: Of the event's durations; divides 48,000, or nearly so.
    /// - Returns: what is new; `nil` if nothing is.
    package mutating func receive(_ event: TelephoneEvent, isMarked: Bool, at timestamp: RTPTimestamp, clockRate: Int)
        -> Change?
    {
        guard let digit = event.digit, clockRate > 0 else { return nil }
        let duration = Int(event.duration)
        if var current = key,
            !timestamp.isNewer(than: current.timestamp) || current.isContinued(by: event, isMarked, at: timestamp)
        {
            // An older key, of which everything has been told, or what is known already.
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
            key = current
            let length = Self.samples(current.before + current.duration, clockRate)
            return event.isEnd ? .ended(length: length) : .lasts(length: length)
        }
        key = Key(event: event.event, timestamp: timestamp, duration: duration, isEnded: event.isEnd)
        return .began(digit, length: Self.samples(duration, clockRate), isEnd: event.isEnd)
    }

    private static func samples(_ ticks: Int, _ clockRate: Int) -> Int { ticks * 48_000 / clockRate }
}
