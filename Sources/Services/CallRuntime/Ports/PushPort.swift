package import CallControl
package import Push
package import Registration

/// Wakes devices by push (spidr-wire §11).
package protocol PushPort: Sendable {
    /// The devices of a user that want to be woken for calls; answers at once.
    ///
    /// - Parameter account: the user's account, whose devices are meant and not those of another one that had the
    ///   address before; `nil`: unknown.
    func devices(of user: UserAddress, account: AccountIdentity?) -> [SleepingDevice]
    /// The devices of a user that take silent pushes of a kind; answers at once.
    ///
    /// - Parameter account: as above.
    func devices(of user: UserAddress, account: AccountIdentity?, forSilent use: SilentPushUse) -> [SleepingDevice]
    /// Sends pushes. To be called once they are durable; returns at once.
    func send(_ pushes: [OwedPush])
    /// A device need not be woken for the call of this session any more, and is not told so by push: it knows. To be
    /// called behind `send`; returns at once.
    ///
    /// - Parameter device: the device; `nil`: all devices that the call may wake.
    func withdraw(_ session: SessionID, from device: PushDeviceID?)
}

/// What silent pushes are for.
package enum SilentPushUse: Hashable, Sendable, CaseIterable {
    /// The device's own subscription.
    case subscription
    /// The user's voice messages.
    case messageWaiting
}

/// A push that a device is owed.
package struct OwedPush: Equatable, Sendable {
    /// What a device is told.
    package enum Occasion: Equatable, Sendable {
        /// A call comes in. The event is the one that a device with an open channel is told: its fact is `invited`.
        case call(LoggedEvent)
        /// The call need not ring any more. The event is the one that a device with an open channel is told.
        case callOver(LoggedEvent, hasVideo: Bool, PushMessage.Ending)
        /// The device's subscription is over, and with it this channel.
        case gone(ChannelID)
        /// The user has so many voice messages now.
        case messageWaiting(VoicemailCount)
        /// The app should extend the device's subscription.
        case refresh
    }

    /// The name of the push, the same however often it is sent: no other push ever has it.
    package var name: String
    /// The user whose device it is.
    package var user: UserAddress
    /// The device.
    package var device: PushDeviceID
    /// What the device is told.
    package var occasion: Occasion
    /// When the push was decided, milliseconds since 1970.
    package var madeAt: Int64
    /// When it is of no use any more, milliseconds since 1970.
    package var expiresAt: Int64

    /// Makes a push of its parts; each parameter is the property of that name.
    package init(
        name: String, user: UserAddress, device: PushDeviceID, occasion: Occasion, madeAt: Int64, expiresAt: Int64
    ) {
        self.name = name
        self.user = user
        self.device = device
        self.occasion = occasion
        self.madeAt = madeAt
        self.expiresAt = expiresAt
    }
}

/// Wakes nobody.
package struct NoPushes: PushPort {
    /// Makes the port.
    package init() {}
    /// None.
    package func devices(of user: UserAddress, account: AccountIdentity?) -> [SleepingDevice] { [] }
    /// None.
    package func devices(
        of user: UserAddress, account: AccountIdentity?, forSilent use: SilentPushUse
    ) -> [SleepingDevice] { [] }
    /// Does nothing.
    package func send(_ pushes: [OwedPush]) {}
    /// Does nothing.
    package func withdraw(_ session: SessionID, from device: PushDeviceID?) {}
}
