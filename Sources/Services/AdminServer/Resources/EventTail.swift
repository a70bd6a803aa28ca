package import CallControl
import CallRuntime
import EventAPI
import Synchronization

/// The latest events of all calls, and those who follow them. It keeps nothing across a restart: what must not be
/// missed is in the event log (docs/call-events.md).
package final class EventTail: CallEventLog {
    /// An event with its place in the order in which this process had them.
    struct Entry: Sendable {
        let number: Int64
        let event: LoggedEvent
    }

    /// How many events are kept for who comes back.
    private static let capacity = 4_096
    /// How many events may wait for a reader that is slow; further ones are missing, which their numbers show.
    private static let backlog = 1_024

    private struct State {
        var latest: [Entry] = []
        var nextNumber: Int64 = 1
        var followers: [Int: AsyncStream<Entry>.Continuation] = [:]
        var nextFollower = 0
        var isFinished = false
    }

    /// The name of the process, which starts the names of events.
    let process: String
    private let state = Mutex(State())

    /// Makes a tail without events.
    ///
    /// - Parameter process: a name that no other process has.
    package init(process: String) { self.process = process }

    /// Adds an event; see `CallEventLog`.
    package func add(_ event: LoggedEvent) {
        state.withLock { state in
            let entry = Entry(number: state.nextNumber, event: event)
            state.nextNumber += 1
            if state.latest.count >= Self.capacity { state.latest.removeFirst(Self.capacity / 4) }
            state.latest.append(entry)
            for follower in state.followers.values { follower.yield(entry) }
        }
    }

    /// The events from a place on, and then those that happen.
    ///
    /// - Parameter number: the last event that is known; `nil`: only those that happen from now on.
    /// - Returns: how many events are not kept any more, and the events.
    func follow(after number: Int64?) -> (lost: Int64, events: AsyncStream<Entry>) {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Entry.self, bufferingPolicy: .bufferingOldest(Self.backlog + Self.capacity))
        let lost: Int64 = state.withLock { state in
            guard !state.isFinished else {
                continuation.finish()
                return 0
            }
            let follower = state.nextFollower
            state.nextFollower += 1
            state.followers[follower] = continuation
            continuation.onTermination = { [weak self] _ in self?.leave(follower) }
            guard let number else { return 0 }
            for entry in state.latest where entry.number > number { continuation.yield(entry) }
            return max(0, (state.latest.first?.number ?? state.nextNumber) - number - 1)
        }
        return (lost, stream)
    }

    /// Ends all streams: the gateway stops.
    package func finish() {
        let followers = state.withLock { state in
            state.isFinished = true
            return Array(state.followers.values)
        }
        for follower in followers { follower.finish() }
    }

    private func leave(_ follower: Int) { state.withLock { $0.followers[follower] = nil } }
}
