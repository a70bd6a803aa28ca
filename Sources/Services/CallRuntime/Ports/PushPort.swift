package import CallControl
package import Push

/// Wakes devices by push (spidr-wire §11).
package protocol PushPort: Sendable {
    /// The devices of a user that want to be woken for calls; answers at once.
    func devices(of user: UserAddress) -> [SleepingDevice]
    /// Sends pushes. To be called once they are durable; returns at once.
    func send(_ pushes: [OwedPush])
}

/// A push that a device is owed.
package struct OwedPush: Equatable, Sendable {
    /// What a device is told.
    package enum Occasion: Equatable, Sendable {
        /// A call comes in. The event is the one that a device with an open channel is told: its fact is `invited`.
        case call(LoggedEvent)
        /// The call need not ring any more. The event is the one that a device with an open channel is told.
        case callOver(LoggedEvent, hasVideo: Bool, PushMessage.Ending)
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
    package func devices(of user: UserAddress) -> [SleepingDevice] { [] }
    /// Does nothing.
    package func send(_ pushes: [OwedPush]) {}
}
