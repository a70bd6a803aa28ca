package import Primitives

/// When the packets of one transport came, by transport-wide sequence number, until their sender has been told
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01).
///
///              reported        not reported yet
///     … 97 98 99 100 101 102 │ 103  —  105 106
///                            ▲ begin           ▲ end
///
/// A packet that comes after its loss was reported moves `begin` back: it and what follows on it are reported again. What is
/// remembered lies in a ring of fixed size; taking a packet in allocates nothing.
package struct TransportArrivals: Equatable, Sendable {
    /// Packets that are remembered; a power of two.
    package static let capacity = 1_024
    /// With so many not reported, feedback is due at once: with all large deltas they still fit a datagram.
    package static let maximumReported = 400

    /// By the low bits of the number: ticks of 250 µs, at least 1; 0 for a packet that has not come.
    private var times: [UInt32]
    /// Unwrapped numbers.
    private var begin: Int64 = 0
    private var end: Int64 = 0
    private var count: UInt8 = 0

    package init() { times = [UInt32](repeating: 0, count: Self.capacity) }

    /// Takes a packet in. A number a whole ring ahead begins anew; one so far behind, and a duplicate, mean nothing any more.
    package mutating func packetReceived(_ number: SequenceNumber, at now: MonotonicTime) {
        if end == 0 {
            begin = Int64(number.rawValue) + 0x1_0000
            end = begin
        }
        let place = end - 1 + Int64(Int16(bitPattern: number.rawValue &- UInt16(truncatingIfNeeded: end - 1)))
        if place >= end {
            makeRoom(upTo: place)
        } else if place <= end - Int64(Self.capacity) || times[Self.slot(place)] != 0 {
            return
        } else {
            begin = min(begin, place)
        }
        times[Self.slot(place)] = Self.tick(now)
    }

    /// Feedback should not wait for its time.
    package var isDue: Bool { end - begin >= Int64(Self.maximumReported) }

    /// The next feedback about packets that were not reported yet; `nil` if none came. Ask until then: what came after a pause of
    /// more than eight seconds, which no delta can tell, and what is too much for a datagram, goes into another one.
    package mutating func nextFeedback(sender: SSRC, media: SSRC) -> TransportFeedback? {
        guard let first = (begin..<end).first(where: { times[Self.slot($0)] != 0 }) else { return nil }
        let reference = Int64(times[Self.slot(first)]) / TransportFeedback.ticksPerReference
        var last = reference * TransportFeedback.ticksPerReference
        var feedback = TransportFeedback(
            sender: sender, media: media, base: SequenceNumber(UInt16(truncatingIfNeeded: begin)),
            reference: (Int32(truncatingIfNeeded: reference) << 8) >> 8, count: count, deltas: [])
        var room = Self.maximumReported
        while begin < end, room > 0 {
            let time = Int64(times[Self.slot(begin)])
            if time == 0 {
                feedback.deltas.append(nil)
            } else {
                guard let delta = Int16(exactly: time - last) else { break }
                feedback.deltas.append(delta)
                (last, room) = (time, room - 1)
            }
            begin += 1
        }
        count &+= 1
        return feedback
    }

    // MARK: Private parts

    /// Moves `end` behind `place`; forgets what the ring has no place for any more.
    private mutating func makeRoom(upTo place: Int64) {
        if place - end >= Int64(Self.capacity) {
            begin = place
            for slot in times.indices { times[slot] = 0 }
        } else {
            for skipped in end..<place { times[Self.slot(skipped)] = 0 }
            begin = max(begin, place + 1 - Int64(Self.capacity))
        }
        end = place + 1
    }

    private static func slot(_ place: Int64) -> Int { Int(truncatingIfNeeded: place) & (capacity - 1) }

    /// The 32 bits wrap after twelve days; a feedback across that moment begins anew.
    private static func tick(_ now: MonotonicTime) -> UInt32 {
        max(1, UInt32(truncatingIfNeeded: now.nanoseconds / 250_000))
    }
}
