package import CallControl

/// What operators want counted. Every function is called from any task and returns at once.
package protocol RuntimeObserver: Sendable {
    func callStarted()
    /// From `callStart` to the answer.
    func callAnswered(setup: Duration)
    /// Follows every `callStarted`.
    func callEnded(_ record: CallRecord)
    func callRefused(_ reason: CallRefusal)
    func subscriptionsChanged(by difference: Int)
    func notificationSent()
    /// Sent again after a reconnect.
    func notificationReplayed()
    /// Given up before any socket was there to take them.
    func notificationsDiscarded(_ count: Int)
}

/// Counts nothing.
package struct SilentObserver: RuntimeObserver {
    package init() {}
    package func callStarted() {}
    package func callAnswered(setup: Duration) {}
    package func callEnded(_ record: CallRecord) {}
    package func callRefused(_ reason: CallRefusal) {}
    package func subscriptionsChanged(by difference: Int) {}
    package func notificationSent() {}
    package func notificationReplayed() {}
    package func notificationsDiscarded(_ count: Int) {}
}
