package import Primitives

/// An application that has calls: who it is, which addresses are its own, and what is allowed to it.
package struct RegisteredApplication: Equatable, Sendable {
    /// The permitted times to decide about an incoming call.
    package static let decisionTimes = Duration.zero...Duration.seconds(60)
    /// The time to decide that holds unless another one is given.
    package static let usualDecisionTime = Duration.seconds(10)

    /// Who it is. Two that are given at a time have different identities.
    package var identity: ApplicationIdentity
    /// The display name, which others see unless the application gives another one for a call.
    package var displayName: String
    /// The addresses at which it is called, and from which it calls. An address comes before a user of that address.
    package var addresses: [ApplicationAddress]
    /// How long an incoming call waits for a command; zero: the fallback happens at once.
    package var decisionTime: Duration
    /// What happens to an incoming call about which nobody decides in time.
    package var fallback: ApplicationFallback
    /// The most legs that it may have at a time.
    package var maximumCalls: Int
    /// How often it may start a call, or be called; `nil`: without a limit.
    package var callRate: RateAllowance.Rate?
    /// The most streams that its calls may have at a time, listeners included; `nil`: any number.
    package var maximumStreams: Int?

    /// Makes an application of its parts; each parameter is the property of that name. The time to decide is brought
    /// into its range.
    package init(
        identity: ApplicationIdentity, displayName: String, addresses: [ApplicationAddress],
        decisionTime: Duration = usualDecisionTime, fallback: ApplicationFallback = .reject(.unavailable),
        maximumCalls: Int = 1_000, callRate: RateAllowance.Rate? = nil, maximumStreams: Int? = nil
    ) {
        self.identity = identity
        self.displayName = displayName
        self.addresses = addresses
        self.decisionTime = min(
            max(decisionTime, Self.decisionTimes.lowerBound), Self.decisionTimes.upperBound)
        self.fallback = fallback
        self.maximumCalls = maximumCalls
        self.callRate = callRate
        self.maximumStreams = maximumStreams
    }

    /// Whether one of the addresses covers this one, which may be another application's all the same: as a single
    /// address it comes before a domain.
    package func covers(_ address: UserAddress) -> Bool { addresses.contains { $0.covers(address) } }
}

/// What happens to an incoming call of an application if nobody decides in time.
package enum ApplicationFallback: Equatable, Sendable {
    /// The call is refused.
    case reject(RejectCause)
    /// The call is answered, this is played, and then the call ends.
    case announce(PlayList)
    /// The call rings at this address.
    case forward(UserAddress)
    /// The call is answered by the gateway itself: the other legs hear this source.
    case answer(HeadlessSource)
}

/// Why an application refuses a call. The raw value is the word of the `/v1` interface.
package enum RejectCause: String, Hashable, Sendable, CaseIterable, Codable {
    /// The application does not want the call (SIP 603).
    case declined
    /// The application is busy (SIP 486).
    case busy
    /// Nobody can take the call now (SIP 480).
    case unavailable
    /// There is nobody at this address (SIP 404).
    case notFound
}
