package import Primitives

/// How often, and how long, a receiver of video could show no new picture, as far as its feedback tells: while it waits
/// for a key frame or for a lost packet that it has requested.
///
///     receiver ──NACK──▶ … ──NACK──▶          receiver ──PLI──▶ … ──PLI──▶
///              ◀─────────── the packet                 ◀────────────────── key frame
///              │  frozen    │                          │      frozen       │
///
/// A gateway that does not decode has no better measure. A decoder requests a key frame when it has stopped waiting for
/// a lost packet. That may be seconds after its last NACK, and both are one freeze.
///
/// A freeze that goes on is counted up to the last request of the receiver, so that no count ever falls.
package struct PictureWaits: Equatable, Sendable {
    /// A shorter wait is no noticeable freeze (W3C webrtc-stats, `freezeCount`).
    private static let noticeable = Duration.milliseconds(150)
    /// A receiver that waits repeats its request within this time; one that does not has what it needs. libwebrtc
    /// requests a key frame three seconds after its last picture, and has requested a lost packet ten times long
    /// before.
    private static let silence = Duration.seconds(5)
    /// The most lost packets that are watched at a time. Further ones do not change when a wait started.
    private static let maximumMisses = 256
    /// A packet that was sent, and not requested again within this time, has arrived. The watched packets are searched
    /// at most once in this time.
    private static let arrival = Duration.seconds(1)

    /// A packet that the receiver has requested.
    private struct Miss: Equatable, Sendable {
        var since: MonotonicTime
        /// The time of the last request, or of sending.
        var last: MonotonicTime
        /// The packet has been sent, and not requested since.
        var isSent = false
    }

    /// Waits that were long enough to be noticed.
    package var freezes: UInt64 { ended + (isNoticeable ? 1 : 0) }
    /// The duration of all freezes.
    package var frozen: Duration { endedLength + (isNoticeable ? last - first : .zero) }

    /// Freezes before the latest wait.
    private var ended: UInt64 = 0
    private var endedLength = Duration.zero
    /// The latest wait, whether it goes on or not.
    private var first = MonotonicTime.zero
    private var last = MonotonicTime.zero
    /// No wait starts before this time, because earlier waits have been counted.
    private var settled = MonotonicTime.zero

    /// Pictures have been sent that the receiver can miss.
    private var hasStarted = false
    /// The time of the last request for a key frame that has not been sent yet.
    private var lastRequest: MonotonicTime?
    /// By sequence number.
    private var misses: [UInt16: Miss] = [:]
    private var roomMade = MonotonicTime.zero

    /// Starts without a picture sent; no wait counts before the first key frame.
    package init() {}

    // MARK: Key frames

    /// Records that the receiver has requested a key frame (PLI, RFC 4585 §6.3.1, or FIR, RFC 5104 §4.3.1).
    package mutating func keyFrameRequested(at now: MonotonicTime) {
        guard hasStarted else { return }
        wait(from: unsent(at: now) ?? now, to: now)
        lastRequest = now
    }

    /// Records that the start of a key frame is sent to the receiver, which needs no earlier packet any more.
    package mutating func keyFrameSent(at now: MonotonicTime) {
        hasStarted = true
        if let first = unsent(at: now) { wait(from: first, to: now) }
        settle(at: now)
    }

    /// Records that nothing is sent until further notice, so that the receiver misses nothing.
    package mutating func pause(at now: MonotonicTime) {
        hasStarted = false
        settle(at: now)
    }

    // MARK: Packets

    /// Records that the receiver has requested a packet (NACK, RFC 4585 §6.2.1).
    ///
    /// - Parameter moment: The time since which the receiver has missed the packet. It is in the past if the receiver
    ///   could not request it in time.
    package mutating func packetRequested(
        _ number: SequenceNumber, since moment: MonotonicTime, at now: MonotonicTime
    ) {
        guard hasStarted else { return }
        var miss = Miss(since: min(moment, now), last: now)
        if let known = misses[number.rawValue], now - known.last <= Self.silence {
            miss.since = known.since
        } else {
            makeRoom(at: now)
            guard misses.count < Self.maximumMisses else { return }
        }
        misses[number.rawValue] = miss
        noteWait(miss, at: now)
    }

    /// Records that a packet is sent which the receiver may have requested. If it arrives, the wait for it has ended.
    package mutating func packetSent(_ number: SequenceNumber, at now: MonotonicTime) {
        guard !misses.isEmpty, var miss = misses[number.rawValue], !miss.isSent else { return }
        (miss.last, miss.isSent) = (now, true)
        misses[number.rawValue] = miss
        noteWait(miss, at: now)
    }

    private mutating func makeRoom(at now: MonotonicTime) {
        guard misses.count >= Self.maximumMisses, now - roomMade >= Self.arrival else { return }
        roomMade = now
        misses = misses.filter { now - $0.value.last <= ($0.value.isSent ? Self.arrival : Self.silence) }
    }

    /// A packet that arrives soon enough causes no wait. If many packets are lost, the next one is missed already by
    /// then.
    private mutating func noteWait(_ miss: Miss, at now: MonotonicTime) {
        guard now - miss.since >= Self.noticeable else { return }
        wait(from: miss.since, to: now)
    }

    // MARK: Waits

    private var isNoticeable: Bool { last - first >= Self.noticeable }

    /// Since when the receiver waits for something that has not been sent yet; `nil` if it does not wait any more.
    private func unsent(at now: MonotonicTime) -> MonotonicTime? {
        var earliest = lastRequest.flatMap { now - $0 <= Self.silence ? $0 : nil }
        for miss in misses.values where !miss.isSent && now - miss.last <= Self.silence {
            earliest = min(earliest ?? miss.since, miss.since)
        }
        return earliest
    }

    /// Records that the receiver has waited until now: the latest wait goes on, or another one has started.
    private mutating func wait(from moment: MonotonicTime, to now: MonotonicTime) {
        let moment = max(moment, settled)
        if moment > last {
            end()
            first = moment
        } else {
            first = min(first, moment)
        }
        last = now
    }

    private mutating func end() {
        if isNoticeable {
            ended &+= 1
            endedLength += last - first
        }
        settled = last
    }

    /// Ends all earlier waits.
    private mutating func settle(at now: MonotonicTime) {
        end()
        (first, last, settled) = (now, now, now)
        lastRequest = nil
        misses.removeAll(keepingCapacity: true)
    }
}
