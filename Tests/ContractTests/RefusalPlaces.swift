import GatewayAPI
import HTTPTypes
import SignalingServer

/// One method of one resource.
struct Operation: Hashable, CustomStringConvertible {
    let endpoint: Endpoint
    let method: HTTPRequest.Method

    static let all = Endpoint.allCases.flatMap { endpoint in
        endpoint.methods.map { Operation(endpoint: endpoint, method: $0) }
    }

    var description: String { "\(method.rawValue) \(endpoint.template)" }
}

extension Operation {
    private enum Audience {
        /// Whoever has an account, with a password.
        case user
        /// Whoever has none.
        case guest
        /// An application server, with its signature.
        case application
        /// Whoever knows the name of the channel.
        case channel
        /// The same, by long polls.
        case poll
        case anybody
    }

    private var audience: Audience {
        switch endpoint {
        case .subscriptions, .subscription, .deviceSubscription, .calls, .callSessions, .call, .callMedia,
            .callStatistics, .dispositions, .logHistory, .logRecord, .directory, .userProfile, .messages, .presence,
            .presenceWatcher, .voicemail, .eventSubscriptions, .eventSubscription, .addressBook, .contacts, .contact,
            .clickToCall, .routeList, .applePushDevices, .applePushDevice, .googlePushDevices, .googlePushDevice,
            .webhookPushDevices, .webhookPushDevice:
            .user
        case .guestSubscriptions, .guestSubscription, .guestCalls, .guestCall: .guest
        case .applicationTokens: .application
        case .channel, .guestChannel: .channel
        case .poll, .guestPoll: .poll
        case .localization, .isAlive, .health, .ready, .metrics, .page: .anybody
        }
    }

    /// A body is read.
    private var isWriting: Bool { [.post, .put].contains(method) }
    private var isSubscribing: Bool {
        isWriting
            && [.subscriptions, .subscription, .deviceSubscription, .guestSubscriptions, .guestSubscription].contains(
                endpoint)
    }
    private var isOfPush: Bool { endpoint.template.contains("/push/") }
    private var isStarting: Bool { [.calls, .guestCalls].contains(endpoint) }
    /// A request that says what is to happen in a call, and may bring a description.
    private var isCalling: Bool { isWriting && (isStarting || [.call, .guestCall].contains(endpoint)) }
    /// The call that is meant may be over.
    private var namesCall: Bool {
        isCalling && endpoint != .guestCalls || method == .delete && [.call, .guestCall].contains(endpoint)
            || [.callMedia, .callStatistics, .dispositions].contains(endpoint)
    }

    /// Whether this request can be refused for that reason. No `default`: whoever thinks of a new reason says here
    /// where it can happen.
    func canMeet(_ code: ErrorCode) -> Bool {
        switch code {
        case .requestMalformed, .requestHeadersTooLarge, .requestUnsupportedTransferCoding, .requestTimedOut,
            .resourceMethodNotAllowed:
            true
        case .requestBodyTooLarge, .requestUnsupportedMediaType, .requestBodyMissing, .requestMalformedJSON,
            .requestMissingField:
            isWriting
        // In a query; in the path, where guests name accounts by address.
        case .requestInvalidValue:
            isWriting || audience == .guest || [.logHistory, .directory].contains(endpoint) && method == .get
        case .requestMalformedVersion, .requestUnsupportedVersion:
            audience != .anybody || [.isAlive, .localization].contains(endpoint)
        // Of all other paths nothing is described.
        case .resourceNotFound: endpoint == .page || endpoint == .metrics

        case .authMissing, .authMalformed, .authUnsupportedScheme, .authWrongPassword, .authBusy: audience == .user
        // A channel may be opened with a token.
        case .authInvalidToken, .authTokenExpired, .authWrongUser:
            audience == .user || [.channel, .poll].contains(endpoint)
        case .authRateLimited, .authUnavailable:
            audience == .user || audience == .application || [.channel, .poll].contains(endpoint)
        case .authWrongSignature, .authUnknownSubscriber: audience == .application
        case .authTokenNotFound: endpoint == .subscriptions
        case .authSessionEnded: audience == .user
        case .anonymousNotOffered, .anonymousInvalidToken, .anonymousUnknownRealm: audience == .guest
        case .anonymousTokenExpired: audience == .guest && method == .post
        case .anonymousRateLimited:
            audience == .guest && (method == .post || method == .put && endpoint == .guestSubscription)
        case .anonymousNotAllowed: audience == .guest && isCalling
        case .anonymousLimitReached: endpoint == .guestSubscriptions

        case .subscriptionNotFound:
            [.subscription, .deviceSubscription, .guestSubscription, .guestCalls].contains(endpoint)
        case .subscriptionUnsupportedServices, .subscriptionUnsupportedNotificationType, .subscriptionInvalidExpiry:
            isSubscribing
        case .subscriptionLimitReached, .subscriptionRateLimited: endpoint == .subscriptions
        case .channelNotFound, .channelUpgradeRequired: audience == .channel
        case .channelGone: audience == .poll

        case .callNotFound: namesCall
        case .callSessionNotFound: method == .get && [.call, .guestCall].contains(endpoint)
        case .callAlreadyAnswered: isCalling && !isStarting || endpoint == .dispositions
        case .callNotAllowed: isCalling || [.callMedia, .dispositions, .clickToCall].contains(endpoint)
        case .callPending: isCalling && !isStarting || endpoint == .callMedia
        case .callUnreachable: [.dispositions, .clickToCall].contains(endpoint)
        case .callMalformedSDP, .callUnsupportedSDP, .callOperationUnknown: isCalling
        case .callOperationNotSupported, .callLimitReached, .callRateLimited:
            isCalling || [.dispositions, .clickToCall].contains(endpoint)
        case .messageUnknownReceiver, .messageInboxFull, .messageTooLong: endpoint == .messages
        case .messageRateLimited: [.messages, .presence].contains(endpoint)
        case .presenceNotSubscribed: endpoint == .presence
        case .watchNotAllowed, .watchLimitReached:
            endpoint == .presenceWatcher || [.eventSubscriptions, .eventSubscription].contains(endpoint) && isWriting
        case .eventUnknownPackage: endpoint == .eventSubscriptions
        case .eventNotFound: endpoint == .eventSubscription
        case .serviceUnavailable:
            isCalling || audience == .application || isOfPush
                || [
                    .dispositions, .subscriptions, .guestSubscriptions, .addressBook, .contacts, .contact, .clickToCall,
                    .routeList, .messages, .presence, .presenceWatcher, .eventSubscriptions, .eventSubscription,
                ].contains(endpoint)
        case .callUserLimitReached: isStarting || endpoint == .clickToCall
        case .mediaUnplayable, .mediaDigitsWaiting: endpoint == .callMedia
        case .logRecordNotFound: endpoint == .logRecord
        case .contactNotFound: endpoint == .contact
        case .contactExists: isWriting && [.contacts, .contact].contains(endpoint)
        case .contactLimitReached: endpoint == .contacts
        case .routeNotFound: endpoint == .routeList && method == .put
        case .pushNotFound: isOfPush && endpoint.template.hasSuffix("{id}")

        case .serviceDraining:
            [.subscriptions, .guestSubscriptions, .clickToCall].contains(endpoint) || isStarting
                || [.channel, .poll].contains(audience)
        // Of paths that lead to none of these operations.
        case .serviceNotProvided: false
        }
    }
}
