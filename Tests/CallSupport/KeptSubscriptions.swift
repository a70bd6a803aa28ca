import CallControl
package import Registration

/// What a journal keeps of changes of registrations.
package struct KeptSubscriptions: Sendable {
    package private(set) var subscriptions: [RestoredSubscription] = []

    package init(_ changes: some Sequence<RegistrationChange>) {
        for change in changes { take(change) }
    }

    private mutating func take(_ change: RegistrationChange) {
        switch change {
        case .subscribed(let stored):
            if !edit(stored.id, { $0.subscription = stored }) { subscriptions.append(RestoredSubscription(stored)) }
        case .unsubscribed(let id): subscriptions.removeAll { $0.subscription.id == id }
        case .notified(let id, let frame): edit(id) { $0.frames.append(frame) }
        case .transmitted(let id, let number): edit(id) { $0.transmitted = max($0.transmitted, number) }
        case .numbered(let id, let number): edit(id) { $0.numbered = max($0.numbered, number) }
        case .forgotten(let id, let number, let lost):
            edit(id) {
                $0.frames.removeAll { $0.eventID <= number }
                $0.numbered = max($0.numbered, number)
                $0.lost = lost
            }
        case .service: break
        }
    }

    @discardableResult
    private mutating func edit(_ id: SubscriptionID, _ change: (inout RestoredSubscription) -> Void) -> Bool {
        guard let index = subscriptions.firstIndex(where: { $0.subscription.id == id }) else { return false }
        change(&subscriptions[index])
        return true
    }
}
