import CallControl
import Primitives
import SPiDR

/// What devices of an end are told by an action, in the words of the client protocol.
struct Told: Equatable {
    var leg: LegID
    var receivers: [SubscriptionID]
    var notification: Notification
}

extension CallAction {
    /// `nil`: it tells nobody anything.
    var told: Told? {
        guard case .event(let event) = self, let leg = event.leg, let audience = event.audience,
            !audience.devices.isEmpty, let notification = Notification(presenting: event)
        else { return nil }
        return Told(leg: leg, receivers: audience.devices, notification: notification)
    }
}

extension [CallAction] {
    var told: [Told] { compactMap(\.told) }

    /// What notifications of a type describe.
    func descriptions(_ type: Notification.EventType) -> [String] {
        told.filter { $0.notification.type == type }.compactMap(\.notification.sdp)
    }

    var traces: [String] { compactMap(\.trace) }
}

extension CallHistory {
    mutating func record(_ actions: [CallAction], at now: MonotonicTime) -> [CallLogRecord] {
        actions.flatMap { action in
            if case .event(let event) = action { record(event, at: now) } else { [] as [CallLogRecord] }
        }
    }
}
