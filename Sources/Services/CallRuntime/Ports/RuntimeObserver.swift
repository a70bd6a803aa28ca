package import CallControl

/// Counts what operators want to know. Every function may be called from any task, and returns at once.
package protocol RuntimeObserver: Sendable {
    /// An event of a call was published that counts.
    func callMeasured(_ measure: CallMeasure)
    /// A request about calls was decided.
    func callRequested(_ request: CallRequest.Kind, _ outcome: CallRequest.Outcome)
    /// A call was not started, or rang no device, for this reason.
    func callRefused(_ reason: CallRefusal)
    /// The devices of a user who was called sleep on, because of this limit.
    func wakeRefused(_ reason: WakeRefusal)
    /// Subscriptions have started (positive) or ended (negative).
    func subscriptionsChanged(by difference: Int)
    /// A notification was sent for the first time.
    func notificationSent()
    /// A notification was sent again after a client reconnected.
    func notificationReplayed()
    /// Notifications were given up before any socket was open to take them.
    func notificationsDiscarded(_ count: Int)
}

/// An observer that counts nothing.
package struct SilentObserver: RuntimeObserver {
    /// Makes the observer.
    package init() {}
    /// Does nothing.
    package func callMeasured(_ measure: CallMeasure) {}
    /// Does nothing.
    package func callRequested(_ request: CallRequest.Kind, _ outcome: CallRequest.Outcome) {}
    /// Does nothing.
    package func callRefused(_ reason: CallRefusal) {}
    /// Does nothing.
    package func wakeRefused(_ reason: WakeRefusal) {}
    /// Does nothing.
    package func subscriptionsChanged(by difference: Int) {}
    /// Does nothing.
    package func notificationSent() {}
    /// Does nothing.
    package func notificationReplayed() {}
    /// Does nothing.
    package func notificationsDiscarded(_ count: Int) {}
}
