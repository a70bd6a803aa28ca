package import CallControl

/// A push that the user is not shown: it is for the apps of devices that are asleep (spidr-wire §11.2).
package struct SilentPush: Equatable, Sendable {
    /// What the app is told.
    package enum Occasion: Equatable, Sendable {
        /// The subscription is over, and its client has not asked for that. The channel is over as well.
        case gone(SubscriptionID, ChannelID)
        /// So many voice messages there are now.
        case messageWaiting(VoicemailCount)
        /// The app should extend the subscription now (RFC 8599).
        case refresh(SubscriptionID)
    }

    /// Which of the user's devices are told.
    package enum Audience: Equatable, Sendable {
        /// The device with this name for itself.
        case device(clientCorrelator: String)
        /// All devices but those with these names for themselves, whose channels are open. A device without a name
        /// cannot be recognised, and is told.
        case allBut(Set<String>)
    }

    /// How long a push is of use that no subscription limits. Providers drop it then.
    package static let longestUse: Duration = .seconds(86_400)

    /// What the app is told.
    package let occasion: Occasion
    /// Which of the user's devices are told.
    package let audience: Audience
    /// How long it is of use; more than zero.
    package let useTime: Duration

    /// Makes a push of its parts; each parameter is the property of that name.
    package init(_ occasion: Occasion, to audience: Audience, useTime: Duration = longestUse) {
        self.occasion = occasion
        self.audience = audience
        self.useTime = useTime
    }

    /// Those of the devices that are told.
    package func receivers(among devices: [SleepingDevice]) -> [SleepingDevice] {
        devices.filter { device in
            switch audience {
            case .device(let correlator): device.clientCorrelator == correlator
            case .allBut(let listening): device.clientCorrelator.map { !listening.contains($0) } ?? true
            }
        }
    }
}
