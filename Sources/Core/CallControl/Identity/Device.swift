/// A subscription that was granted the `call` service (a guest's: `callMe`), as calls see it: one place where the user
/// can be rung.
package struct Device: Hashable, Sendable, Codable {
    /// The subscription, which is the name of the device in calls.
    package var subscription: SubscriptionID
    /// The device itself sends `ringing` once it shows a call (spidr-wire §6.5). Otherwise it is assumed to ring at
    /// once.
    package var sendsRingingFeedback: Bool

    /// Makes a device of its parts; each parameter is the property of that name.
    package init(_ subscription: SubscriptionID, sendsRingingFeedback: Bool = false) {
        self.subscription = subscription
        self.sendsRingingFeedback = sendsRingingFeedback
    }
}

/// A change of a user's devices while the user has calls.
package enum DeviceChange: Hashable, Sendable {
    /// A device has subscribed.
    ///
    /// - Parameters:
    ///   - replacing: the former subscription of the same device, which is over; `nil`: none.
    ///   - clientCorrelator: the device's name for itself; `nil`: none.
    case joined(Device, replacing: SubscriptionID?, clientCorrelator: String? = nil)
    /// The channel of a device's subscription has opened.
    ///
    /// - Parameter clientCorrelator: the device's name for itself.
    case listens(SubscriptionID, clientCorrelator: String)
    /// A subscription of a device is over.
    ///
    /// - Parameter othersRemain: the subscription merely expired, and another device of the user is there to continue
    ///   the calls.
    case left(SubscriptionID, othersRemain: Bool)
    /// The push that was to wake this device has failed.
    case notWoken(PushDeviceID)
    /// The user's account does not exist any more. The ends of the subscriptions come before.
    case userRemoved
    /// Whether any device of the user has its notification channel open.
    case channelsOpen(Bool)
    /// The subscriptions of the user that ask for reports on the quality of calls, including subscriptions that are not
    /// devices of calls.
    case qualityReporting(to: [SubscriptionID])
}
