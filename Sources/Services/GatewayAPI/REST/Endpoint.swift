package import Push

/// Every path that the server answers; `openapi/orbweaver.yaml` describes the same list.
package enum Endpoint: String, CaseIterable, Sendable {
    /// Where users create subscriptions (spidr-wire §3.1).
    case subscriptions = "/rest/version/{version}/user/{user}/subscription"
    /// One subscription of a user (spidr-wire §3.2, §3.3).
    case subscription = "/rest/version/{version}/user/{user}/subscription/{id}"
    /// The subscription of a user's device, by its `clientCorrelator` (spidr-wire §3.2).
    case deviceSubscription = "/rest/version/{version}/user/{user}/subscription/clientCorrelator/{id}"
    /// The notification channel of a user's subscription (spidr-wire §4).
    case channel = "/rest/version/{version}/user/{user}/websocket/{id}"
    /// The same channel for long polls (spidr-wire §4.5).
    case poll = "/rest/version/{version}/user/{user}/notification/{id}"
    /// Where users start and join calls (spidr-wire §6.1, §8.7).
    case calls = "/rest/version/{version}/user/{user}/callControl"
    /// All calls of a user that go on (docs/client.md).
    case callSessions = "/rest/version/{version}/user/{user}/callControl/callSessions"
    /// One call of a user, by its `sessionData` (spidr-wire §6).
    case call = "/rest/version/{version}/user/{user}/callControl/callSessions/{id}"
    /// What the gateway plays and sends in a user's call (docs/client.md).
    case callMedia = "/rest/version/{version}/user/{user}/callControl/callSessions/{id}/media"
    /// Media statistics of a user's call (docs/client.md).
    case callStatistics = "/rest/version/{version}/user/{user}/callControl/callSessions/{id}/statistics"
    /// Where users reject or forward a ringing call (spidr-wire §6.4).
    case dispositions = "/rest/version/{version}/user/{user}/calldisposition"
    /// The call log of a user (spidr-wire §10).
    case logHistory = "/rest/version/{version}/user/{user}/logHistory"
    /// One record of the call log (spidr-wire §10).
    case logRecord = "/rest/version/{version}/user/{user}/logRecord/{id}"
    /// The search for users (spidr-wire §10).
    case directory = "/rest/version/{version}/user/{user}/directory"
    /// The profile of a user (spidr-wire §10).
    case userProfile = "/rest/version/{version}/user/{user}/userProfileData"
    /// Where users send messages (spidr-wire §9).
    case messages = "/rest/version/{version}/user/{user}/instantmessage"
    /// The presence of a user (spidr-wire §9).
    case presence = "/rest/version/{version}/user/{user}/presence"
    /// The presence of others, which a user watches (spidr-wire §9).
    case presenceWatcher = "/rest/version/{version}/user/{user}/presenceWatcher"
    /// How many voice messages a user has (spidr-wire §9).
    case voicemail = "/rest/version/{version}/user/{user}/voicemail"
    /// Where users subscribe to events other than calls (spidr-wire §10).
    case eventSubscriptions = "/rest/version/{version}/user/{user}/eventSubscription"
    /// One subscription to events, by its `sessionData` (spidr-wire §10).
    case eventSubscription = "/rest/version/{version}/user/{user}/eventSubscription/{id}"
    /// The address book of a user (spidr-wire §10).
    case addressBook = "/rest/version/{version}/user/{user}/addressbook"
    /// Where entries are added to the address book (spidr-wire §10).
    case contacts = "/rest/version/{version}/user/{user}/addressbook/contacts"
    /// One entry of the address book, by its nickname (spidr-wire §10).
    case contact = "/rest/version/{version}/user/{user}/addressbook/contacts/{id}"
    /// The routes of a user (spidr-wire §10).
    case routeList = "/rest/version/{version}/user/{user}/routelist"
    /// Where users ask for a call that the gateway places (spidr-wire §10).
    case clickToCall = "/rest/version/{version}/user/{user}/clicktocall"
    /// Where devices register for push by Apple, and what is registered (spidr-wire §11.1).
    case applePushDevices = "/rest/version/{version}/user/{user}/push/apple/devices"
    /// One registration for push by Apple (spidr-wire §11.1).
    case applePushDevice = "/rest/version/{version}/user/{user}/push/apple/devices/{id}"
    /// Where devices register for push by Google, and what is registered (spidr-wire §11.1).
    case googlePushDevices = "/rest/version/{version}/user/{user}/push/google/devices"
    /// One registration for push by Google (spidr-wire §11.1).
    case googlePushDevice = "/rest/version/{version}/user/{user}/push/google/devices/{id}"
    /// Where devices register for push by the app's own service, and what is registered (docs/protocols/spidr.md §11).
    case webhookPushDevices = "/rest/version/{version}/user/{user}/push/webhook/devices"
    /// One registration for push by the app's own service (docs/protocols/spidr.md §11).
    case webhookPushDevice = "/rest/version/{version}/user/{user}/push/webhook/devices/{id}"
    /// Where guests create subscriptions (spidr-wire §7).
    case guestSubscriptions = "/rest/version/{version}/anonymous/{user}/subscription"
    /// One subscription of a guest (spidr-wire §7).
    case guestSubscription = "/rest/version/{version}/anonymous/{user}/subscription/{id}"
    /// The notification channel of a guest's subscription (spidr-wire §7).
    case guestChannel = "/rest/version/{version}/anonymous/{user}/websocket/{id}"
    /// The same channel for long polls (spidr-wire §4.5).
    case guestPoll = "/rest/version/{version}/anonymous/{user}/notification/{id}"
    /// Where guests start calls (spidr-wire §7).
    case guestCalls = "/rest/version/{version}/anonymous/{user}/callMe"
    /// One call of a guest, by its `sessionData` (spidr-wire §7).
    case guestCall = "/rest/version/{version}/anonymous/{user}/callMe/callSessions/{id}"
    /// Where application servers get tokens that log users in (spidr-wire §2); `{id}` is the application.
    case applicationTokens = "/rest/version/{version}/application/{id}/authenticationToken"
    /// The language that the client asks for (spidr-wire §10).
    case localization = "/rest/version/{version}/localization"
    /// Whether the process answers, for clients of the protocol (spidr-wire §10).
    case isAlive = "/rest/version/{version}/isAlive"
    /// Whether the process answers (docs/operations.md).
    case health = "/health"
    /// Whether the gateway takes new subscriptions and calls (docs/operations.md).
    case ready = "/ready"
    /// Counters and gauges in the Prometheus text format (docs/operations.md).
    case metrics = "/metrics"
    /// The pages given to the server, such as the demo: every other path outside `/rest` and `/notification`.
    case page = "/"

    /// The path, with `{version}`, `{user}` and `{id}` in place of the segments that vary.
    package var template: String { rawValue }

    /// Who may use a resource of the client protocol.
    package enum Audience: Hashable, Sendable {
        /// Callers and callees with an account, who log in with a password (spidr-wire §1.1).
        case users
        /// Callers without an account (spidr-wire §7).
        case guests
    }

    /// The kind of resource behind a path.
    package enum Target: Hashable, Sendable {
        /// A resource of the client protocol, the same for each audience that has a path to it.
        case client(ClientResource, for: Audience)
        /// A notification channel, which a WebSocket opens (spidr-wire §4).
        case channel(of: Audience)
        /// A notification channel, which long polls ask (spidr-wire §4.5).
        case poll(of: Audience)
        /// Tokens for an application server, which signs its requests (spidr-wire §2).
        case applicationTokens
        /// A resource that needs no credentials.
        case operational(OperationalResource)
    }

    /// The resource behind the path, and who may use it.
    package var target: Target {
        switch self {
        case .subscriptions: .client(.subscriptions, for: .users)
        case .subscription: .client(.subscription, for: .users)
        case .deviceSubscription: .client(.deviceSubscription, for: .users)
        case .channel: .channel(of: .users)
        case .poll: .poll(of: .users)
        case .calls: .client(.calls, for: .users)
        case .callSessions: .client(.callSessions, for: .users)
        case .call: .client(.call, for: .users)
        case .callMedia: .client(.callMedia, for: .users)
        case .callStatistics: .client(.callStatistics, for: .users)
        case .dispositions: .client(.dispositions, for: .users)
        case .logHistory: .client(.logHistory, for: .users)
        case .logRecord: .client(.logRecord, for: .users)
        case .directory: .client(.directory, for: .users)
        case .userProfile: .client(.userProfile, for: .users)
        case .messages: .client(.messages, for: .users)
        case .presence: .client(.presence, for: .users)
        case .presenceWatcher: .client(.presenceWatcher, for: .users)
        case .voicemail: .client(.voicemail, for: .users)
        case .eventSubscriptions: .client(.eventSubscriptions, for: .users)
        case .eventSubscription: .client(.eventSubscription, for: .users)
        case .addressBook: .client(.addressBook, for: .users)
        case .contacts: .client(.contacts, for: .users)
        case .contact: .client(.contact, for: .users)
        case .routeList: .client(.routeList, for: .users)
        case .clickToCall: .client(.clickToCall, for: .users)
        case .applePushDevices: .client(.pushDevices(.apple), for: .users)
        case .applePushDevice: .client(.pushDevice(.apple), for: .users)
        case .googlePushDevices: .client(.pushDevices(.google), for: .users)
        case .googlePushDevice: .client(.pushDevice(.google), for: .users)
        case .webhookPushDevices: .client(.pushDevices(.webhook), for: .users)
        case .webhookPushDevice: .client(.pushDevice(.webhook), for: .users)
        case .guestSubscriptions: .client(.subscriptions, for: .guests)
        case .guestSubscription: .client(.subscription, for: .guests)
        case .guestChannel: .channel(of: .guests)
        case .guestPoll: .poll(of: .guests)
        case .guestCalls: .client(.calls, for: .guests)
        case .guestCall: .client(.call, for: .guests)
        case .applicationTokens: .applicationTokens
        case .localization: .operational(.localization)
        case .isAlive: .operational(.alive)
        case .health: .operational(.alive)
        case .ready: .operational(.ready)
        case .metrics: .operational(.metrics)
        case .page: .operational(.page)
        }
    }

    /// How errors of this resource are written (spidr-wire §1.5).
    package var errorForm: ErrorForm {
        switch self {
        case .subscriptions, .subscription, .deviceSubscription, .guestSubscriptions, .guestSubscription:
            .wrapped(.subscribe)
        case .calls, .callSessions, .call: .wrapped(.callControl)
        case .guestCalls, .guestCall: .wrapped(.callMe)
        case .callMedia: .wrapped(.media)
        case .callStatistics: .wrapped(.statistics)
        case .logHistory: .wrapped(.logHistory)
        case .logRecord: .wrapped(.logRecord)
        case .directory: .wrapped(.directory)
        case .userProfile: .wrapped(.userProfile)
        case .messages: .wrapped(.instantMessage)
        case .presence: .wrapped(.presence)
        case .presenceWatcher: .wrapped(.presenceWatcher)
        case .voicemail: .wrapped(.voicemail)
        case .eventSubscriptions, .eventSubscription: .wrapped(.eventSubscription)
        case .dispositions: .wrapped(.callDisposition)
        case .applicationTokens: .wrapped(.authenticationToken)
        case .addressBook, .contacts, .contact: .wrapped(.addressBook)
        case .routeList: .wrapped(.routeList)
        case .clickToCall: .wrapped(.clickToCall)
        // Clients read the error without a wrapper (spidr-wire §1.5).
        case .applePushDevices, .applePushDevice, .googlePushDevices, .googlePushDevice, .webhookPushDevices,
            .webhookPushDevice:
            .wrapped(.none)
        case .channel, .guestChannel, .poll, .guestPoll, .localization, .isAlive: .wrapped(.none)
        case .health, .ready, .metrics, .page: .problem
        }
    }

    /// How this error is written at this resource (spidr-wire §1.5).
    ///
    /// A refusal of a guest with 403 or 429 is wrapped in `authorizationResponse`, as the guest's client expects. Where
    /// a subscription is extended or deleted it is wrapped in `subscribeResponse`, since clients read that member
    /// without a check.
    package func errorForm(of error: APIError) -> ErrorForm {
        let isGuests = self == .guestSubscriptions || self == .guestCalls || self == .guestCall
        return isGuests && [403, 429].contains(error.code.httpStatus) ? .wrapped(.authorization) : errorForm
    }
}

/// The resources of the client protocol, which need a subscription or a call.
package enum ClientResource: Hashable, Sendable {
    /// Where subscriptions are created (spidr-wire §3.1).
    case subscriptions
    /// One subscription: extend, delete (spidr-wire §3.2, §3.3).
    case subscription
    /// The subscription of a device, by the name that the device gave itself: extend (spidr-wire §3.2).
    case deviceSubscription
    /// Where calls are started and joined (spidr-wire §6.1, §8.7).
    case calls
    /// All calls of the user that go on (docs/client.md).
    case callSessions
    /// One call of the user (spidr-wire §6).
    case call
    /// What the gateway plays, and the DTMF digits it sends, in one call (docs/client.md).
    case callMedia
    /// Media statistics of one call (docs/client.md).
    case callStatistics
    /// Where a ringing call is rejected or forwarded (spidr-wire §6.4).
    case dispositions
    /// The user's call log (spidr-wire §10).
    case logHistory
    /// One record of the call log (spidr-wire §10).
    case logRecord
    /// The search for users by name or address (spidr-wire §10).
    case directory
    /// What is known of the user (spidr-wire §10).
    case userProfile
    /// Where messages to other users are sent (spidr-wire §9).
    case messages
    /// The user's own presence (spidr-wire §9).
    case presence
    /// The presence of others: watch, stop, ask once (spidr-wire §9).
    case presenceWatcher
    /// How many voice messages the user has (spidr-wire §9).
    case voicemail
    /// Where the user subscribes to events other than calls (spidr-wire §10).
    case eventSubscriptions
    /// One subscription to events: extend, delete (spidr-wire §10).
    case eventSubscription
    /// The user's address book (spidr-wire §10).
    case addressBook
    /// Where entries are added to the address book (spidr-wire §10).
    case contacts
    /// One entry of the address book: read, replace, remove (spidr-wire §10).
    case contact
    /// The user's routes: read, activate, deactivate, reorder (spidr-wire §10).
    case routeList
    /// Where a call is asked for that the gateway places (spidr-wire §10).
    case clickToCall
    /// Where devices register for push by a provider, and what is registered (spidr-wire §11.1).
    case pushDevices(PushProvider)
    /// One registration for push: read, change, remove (spidr-wire §11.1).
    case pushDevice(PushProvider)
}

/// Resources for operators, load balancers and browsers.
package enum OperationalResource: Hashable, Sendable {
    /// Whether the process answers: `/health` and `isAlive`.
    case alive
    /// The language that the client asks for (spidr-wire §10).
    case localization
    /// Whether the gateway takes new subscriptions and calls.
    case ready
    /// Counters and gauges in the Prometheus text format.
    case metrics
    /// A page given to the server.
    case page
}
