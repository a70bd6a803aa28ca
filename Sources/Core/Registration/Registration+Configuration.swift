package import Primitives

extension Registration {
    /// The services, limits and times of a user's subscriptions.
    package struct Configuration: Equatable, Sendable {
        /// The services that a subscription can be granted, in lower case.
        package var services: Set<String>
        /// The service among them that makes a subscription a device of calls.
        package var deviceService: String
        /// The shortest life time of a subscription; a shorter one is raised to it.
        package var minimumExpires: Duration
        /// The longest life time of a subscription; a longer one is cut to it.
        package var maximumExpires: Duration
        /// The life time of a subscription whose client asks for none.
        package var defaultExpires: Duration
        /// Clients that have not extended their subscription after three quarters of its life time are told `ping`
        /// (spidr-wire §4.2).
        package var remindsToExtend = true
        /// How long an expired subscription can still be extended before it is `gone` (spidr-wire §3.4).
        package var grace: Duration
        /// The most subscriptions that one user may have, 1 or more.
        package var maximumSubscriptions: Int
        /// A subscription ends if the user is part of no call within this time; `nil`: the user need not call.
        package var firstCallTime: Duration?
        /// The most legs of calls that the user may have at a time, 1 or more.
        package var maximumLegs: Int
        /// The most of these legs that may ring unanswered, 1 or more. One caller may have half of them at most, so
        /// that no caller shuts out all others.
        package var maximumRinging: Int
        /// How often the user may start a call, or forward or transfer one.
        package var callRate: RateAllowance.Rate
        /// How often calls may wake the user's devices that are asleep.
        package var wakes: WakeAllowance.Configuration
        /// How long notifications wait at most for a request to be answered.
        package var requestPatience: Duration
        /// How long a client is told nothing about a session after the answer to its own request about it: before that,
        /// the client may not know yet that the request has succeeded (spidr-wire §12.1). Zero: it is told at once.
        package var answerTime: Duration
        /// The same after an answer that names a new session. The time ends early with the client's first request about
        /// the session.
        package var sessionTime: Duration
        /// How long the socket of a subscription stays open after its client has deleted the subscription. A client
        /// that loses the socket before it has read the answer takes that for a lost connection (spidr-wire §12.1).
        package var closeDelay: Duration
        /// The limits of messages.
        package var messages: MessageInbox.Configuration
        /// The limits of what the user may watch, and of who may watch the user.
        package var interests: Interests.Configuration
        /// The limits of the notification queue of each subscription.
        package var queue: NotificationQueue.Configuration

        /// The service of subscriptions whose devices have calls (spidr-wire §3.1).
        package static let callService = "call"
        /// The service of subscriptions that are told of the quality of the user's calls.
        package static let qualityService = "quality"
        /// The service of subscriptions that are told messages, and what has become of the user's own (spidr-wire §9).
        package static let messageService = "im"
        /// The service of subscriptions that are told the presence of others (spidr-wire §9).
        package static let presenceService = "presence"
        /// The service of subscriptions that are told events of this kind (spidr-wire §3.1).
        package static func service(of kind: EventPackage) -> String {
            switch kind {
            case .presence: "event:presence"
            case .messageSummary: "event:message-summary"
            }
        }
        /// How the protocol spells a service (spidr-wire §3.1). Clients may spell it otherwise.
        ///
        /// - Parameter service: in lower case.
        package static func spelling(of service: String) -> String {
            switch service {
            case messageService: "IM"
            case presenceService: "Presence"
            default: service
            }
        }
        /// All services that a user with an account can be granted.
        package static let allServices: Set<String> = [
            callService, qualityService, messageService, presenceService, service(of: .presence),
            service(of: .messageSummary),
        ]

        /// Makes a configuration of its parts; each parameter is the property of that name.
        package init(
            services: Set<String> = allServices, deviceService: String = callService,
            minimumExpires: Duration = .seconds(60),
            maximumExpires: Duration = .seconds(86_400),
            defaultExpires: Duration = .seconds(3_600), grace: Duration = .seconds(5), maximumSubscriptions: Int = 10,
            firstCallTime: Duration? = nil, maximumLegs: Int = 20, maximumRinging: Int = 10,
            callRate: RateAllowance.Rate = .init(burst: 20, interval: .seconds(1)),
            wakes: WakeAllowance.Configuration = .init(), requestPatience: Duration = .seconds(10),
            answerTime: Duration = .milliseconds(100), sessionTime: Duration = .milliseconds(250),
            closeDelay: Duration = .seconds(1), messages: MessageInbox.Configuration = .init(),
            interests: Interests.Configuration = .init(),
            queue: NotificationQueue.Configuration = .init()
        ) {
            self.services = services
            self.deviceService = deviceService
            self.minimumExpires = minimumExpires
            self.maximumExpires = maximumExpires
            self.defaultExpires = defaultExpires
            self.grace = grace
            self.maximumSubscriptions = maximumSubscriptions
            self.firstCallTime = firstCallTime
            self.maximumLegs = maximumLegs
            self.maximumRinging = maximumRinging
            self.callRate = callRate
            self.wakes = wakes
            self.requestPatience = requestPatience
            self.answerTime = answerTime
            self.sessionTime = sessionTime
            self.closeDelay = closeDelay
            self.messages = messages
            self.interests = interests
            self.queue = queue
        }

        /// This configuration for guests: one subscription, for `callMe` and nothing else, and one call at a time.
        ///
        /// - Parameters:
        ///   - maximumExpires: the longest life time, if it is less than that of this configuration.
        ///   - firstCallTime: the time within which a guest has to call; `nil`: without limit.
        package func forGuests(maximumExpires: Duration, firstCallTime: Duration? = nil) -> Configuration {
            var guests = self
            guests.firstCallTime = firstCallTime
            guests.services = ["callme"]
            guests.deviceService = "callme"
            guests.maximumExpires = min(self.maximumExpires, maximumExpires)
            guests.defaultExpires = guests.maximumExpires
            guests.minimumExpires = min(minimumExpires, guests.maximumExpires)
            guests.maximumSubscriptions = 1
            guests.remindsToExtend = false
            guests.maximumLegs = 1
            return guests
        }
    }
}
