package import Primitives

/// The times of arrival of the packets of one transport, by transport-wide sequence number, until they are reported to
/// their sender (draft-holmer-rmcat-transport-wide-cc-extensions-01).
///
///              reported        not reported yet
///     … 97 98 99 100 101 102 │ 103  —  105 106
///                            ▲ start           ▲ end
///
/// A packet that arrives after it was reported as lost moves `start` back: it and the packets after it are reported
/// again. The times are kept in a ring of fixed size, and taking a packet allocates nothing.
package struct TransportArrivals: Equatable, Sendable {
    /// The number of packets that are kept, a power of two.
    package static let capacity = 1_024
    /// With so many unreported packets, feedback is due at once: even with large deltas only, they fit a datagram.
    package static let maximumReported = 400

    /// By the low bits of the sequence number: ticks of 250 µs, at least 1; 0 for a packet that has not arrived.
    private var times: [UInt32]
    /// Unwrapped sequence numbers.
    private var start: Int64 = 0
    private var end: Int64 = 0
    private var count: UInt8 = 0

    /// Starts without a packet, with the memory of the ring.
    package init() { times = [UInt32](repeating: 0, count: Self.capacity) }

    /// Takes a packet. A sequence number that is ahead by the whole ring or more starts anew. One that is behind by the
    /// ring, or a duplicate, is ignored.
    package mutating func packetReceived(_ number: SequenceNumber, at now: MonotonicTime) {
        if end == 0 {
            start = Int64(number.rawValue) + 0x1_0000
            end = start
        }
        let place = end - 1 + Int64(Int16(bitPattern: number.rawValue &- UInt16(truncatingIfNeeded: end - 1)))
        if place >= end {
            makeRoom(upTo: place)
        } else if place <= end - Int64(Self.capacity) || times[Self.slot(place)] != 0 {
            return
        } else {
            start = min(start, place)
        }
        times[Self.slot(place)] = Self.tick(now)
    }

    /// Whether feedback should be sent at once, without waiting for its interval.
    package var isDue: Bool { end - start >= Int64(Self.maximumReported) }

    /// The next feedback about unreported packets; `nil` if none of them has arrived. It is called until it returns
    /// `nil`, because packets after a pause of more than eight seconds, which no delta can express, and packets that
    /// exceed a datagram are reported in a further one.
    package mutating func nextFeedback(sender: SSRC, media: SSRC) -> TransportFeedback? {
        guard let first = (start..<end).first(where: { times[Self.slot($0)] != 0 }) else { return nil }
        let reference = Int64(times[Self.slot(first)]) / TransportFeedback.ticksPerReference
        var last = reference * TransportFeedback.ticksPerReference
        var feedback = TransportFeedback(
            sender: sender, media: media, base: SequenceNumber(UInt16(truncatingIfNeeded: start)),
            reference: (Int32(truncatingIfNeeded: reference) << 8) >> 8, count: count, deltas: [])
        var room = Self.maximumReported
        while start < end, room > 0 {
            let time = Int64(times[Self.slot(start)])
            if time == 0 {
                feedback.deltas.append(nil)
            } else {
                guard let delta = Int16(exactly: time - last) else { break }
                feedback.deltas.append(delta)
                (last, room) = (time, room - 1)
            }
            start += 1
        }
        count &+= 1
        return feedback
    }

    // MARK: Private parts

    /// Moves `end` behind `place`, and forgets the packets that the ring has no room for any more.
    private mutating func makeRoom(upTo place: Int64) {
        if place - end >= Int64(Self.capacity) {
            start = place
            for slot in times.indices { times[slot] = 0 }
        } else {
            for skipped in end..<place { times[Self.slot(skipped)] = 0 }
            start = max(start, place + 1 - Int64(Self.capacity))
        }
        end = place + 1
    }

    private static func slot(_ place: Int64) -> Int { Int(truncatingIfNeeded: place) & (capacity - 1) }

    /// The 32 bits wrap after twelve days; feedback across that moment starts anew.
    private static func tick(_ now: MonotonicTime) -> UInt32 {
        max(1, UInt32(truncatingIfNeeded: now.nanoseconds / 250_000))
    }
}
