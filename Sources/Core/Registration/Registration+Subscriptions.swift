import CallControl

/// The subscriptions that are there, and what they were granted.
extension Registration {
    /// The subscriptions that have not ended, including those in their grace.
    var active: [Subscription] { subscriptions.filter { !$0.isEnding } }

    /// The index of a subscription; `nil` if it has ended or never was.
    func activeIndex(of id: SubscriptionID) -> Int? { subscriptions.firstIndex { $0.id == id && !$0.isEnding } }

    /// The subscriptions that were granted a service.
    ///
    /// - Parameter service: in lower case.
    func receivers(of service: String) -> [SubscriptionID] {
        // Every notice of a service asks for them, so that no subscription is copied.
        subscriptions.compactMap { !$0.isEnding && $0.isGranted(service) ? $0.id : nil }
    }

    /// Informs all legs of the user.
    func inform(_ change: DeviceChange) -> [RegistrationAction] {
        attachments.map { .inform($0.call, $0.leg, change) }
    }
}

extension Subscription {
    /// Whether it was granted a service.
    ///
    /// - Parameter service: in lower case.
    func isGranted(_ service: String) -> Bool { services.contains { $0.lowercased() == service } }
}
