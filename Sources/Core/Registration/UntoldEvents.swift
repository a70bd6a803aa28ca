package import CallControl
import Primitives

/// Finds what a process was killed in the midst of: events that subscriptions were to be told, and whose notifications
/// had not been added to their logs yet.
package struct UntoldEvents: Sendable {
    /// How long before the end of the process an event may have happened whose notification was still to be added, in
    /// milliseconds. Notifications are kept for longer, so that a missing one was never added.
    private static let reach: Int64 = 30_000
    /// How much later than an event the notification of a later event may be stamped, in milliseconds.
    private static let skew: Int64 = 1_000

    private let logs: [SubscriptionID: Log]
    private let stoppedAt: Int64

    /// Reads the logs of subscriptions.
    ///
    /// - Parameter stoppedAt: when the process is last known to have run, milliseconds since 1970.
    package init(_ subscriptions: [RestoredSubscription], stoppedAt: Int64) {
        logs = Dictionary(
            subscriptions.map { ($0.subscription.id, Log($0)) }, uniquingKeysWith: { first, _ in first })
        self.stoppedAt = stoppedAt
    }

    /// The events of a call that have to be told still, each for those of its devices that do not know of it.
    ///
    /// - Parameter events: the events of the call, in order.
    package func events(of events: [LoggedEvent]) -> [LoggedEvent] {
        events.compactMap { entry in
            guard let audience = entry.event.audience, entry.time >= stoppedAt - Self.reach else { return nil }
            let untold = audience.devices.filter { logs[$0]?.lacks(entry) ?? false }
            guard !untold.isEmpty else { return nil }
            var entry = entry
            entry.event.audience?.devices = untold
            return entry
        }
    }

    /// What the log of one subscription has of calls.
    private struct Log {
        /// The last event of each call, by the call and its start.
        private var told: [CallID: [Int64: Int]] = [:]
        /// When the oldest notification was made, milliseconds since 1970; `nil`: there is none.
        private let oldest: Int64?

        init(_ subscription: RestoredSubscription) {
            oldest = subscription.frames.first?.time
            for case .call(let entry) in subscription.frames.map(\.notice) {
                told[entry.call, default: [:]][entry.startedAt] = entry.sequence
            }
        }

        /// Whether an event is missing. Events of a call are told in order, and older notifications are forgotten
        /// before younger ones.
        func lacks(_ entry: LoggedEvent) -> Bool {
            if let last = told[entry.call]?[entry.startedAt] { return entry.sequence > last }
            return oldest.map { entry.time >= $0 - UntoldEvents.skew } ?? true
        }
    }
}

extension LoggedEvent {
    /// When the event happened, milliseconds since 1970.
    package var time: Int64 { startedAt + elapsed.wholeNanoseconds / 1_000_000 }
}
