/// A subscription that was granted the `call` service, as calls see it: one place where the user can be rung.
package struct Device: Hashable, Sendable {
    package var subscription: SubscriptionID
    /// The device sends `ringing` itself once it has shown a call (spidr-wire §6.5).
    package var sendsRingingFeedback: Bool

    package init(_ subscription: SubscriptionID, sendsRingingFeedback: Bool = false) {
        self.subscription = subscription
        self.sendsRingingFeedback = sendsRingingFeedback
    }
}

/// What changed about a user's devices while the user has calls.
package enum DeviceChange: Hashable, Sendable {
    /// - Parameter replacing: the same device's former subscription, which is over.
    case joined(Device, replacing: SubscriptionID?)
    /// - Parameter othersRemain: the subscription merely ran out, and another device is there to carry on the calls.
    case left(SubscriptionID, othersRemain: Bool)
    /// Whether any of the user's devices has its notification channel open.
    case channelsOpen(Bool)
}
