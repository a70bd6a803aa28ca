import SPiDR

/// The top-level key of an error answer, one per resource (spidr-wire §1.5).
package enum ErrorWrapper: String, CaseIterable, Sendable {
    /// Subscriptions (spidr-wire §3).
    case subscribe = "subscribeResponse"
    /// Calls of users (spidr-wire §6, §8).
    case callControl = "callControlResponse"
    /// Calls of guests (spidr-wire §7).
    case callMe = "callMeResponse"
    /// The refusal and the forwarding of a ringing call (spidr-wire §6.4).
    case callDisposition = "callDispositionResponse"
    /// What the gateway plays and sends in a call (docs/client.md).
    case media = "mediaResponse"
    /// Media statistics of a call (docs/client.md).
    case statistics = "statisticsResponse"
    /// Tokens for application servers (spidr-wire §2).
    case authenticationToken = "authenticationTokenResponse"
    /// The call log of a user (spidr-wire §10).
    case logHistory
    /// One record of the call log (spidr-wire §10).
    case logRecord
    /// Instant messages (spidr-wire §9).
    case instantMessage = "imResponse"
    /// The presence of the user (spidr-wire §9).
    case presence = "presenceResponse"
    /// The presence of others, which the user watches (spidr-wire §9).
    case presenceWatcher = "presenceWatcherResponse"
    /// Voice mail: the message waiting indication, with a lower-case r (spidr-wire §9).
    case voicemail = "mwiresponse"
    /// Subscriptions to events other than calls (spidr-wire §10).
    case eventSubscription = "eventSubscriptionResponse"
    // Services that this gateway does not have (spidr-wire §10)
    /// The address book and its contacts (spidr-wire §10).
    case addressBook = "addressBookResponse"
    /// The search for users in a directory (spidr-wire §10).
    case directory
    /// The profile of the user (spidr-wire §10).
    case userProfile = "userProfileData"
    /// The list of routes (spidr-wire §10).
    case routeList = "routeResponse"
    /// A call that the server places between two addresses (spidr-wire §10).
    case clickToCall = "ctcResponse"
    /// The number that a mobile phone dials to reach the service: IP multimedia routing number (spidr-wire §10).
    case imrn = "imrnResponse"
    /// Refusals of guests, with 403 or 429: an invalid token, a forbidden operation, too many requests (spidr-wire
    /// §1.5).
    case authorization = "authorizationResponse"
    /// No wrapper, for resources that have no response of their own: the members stand at the top level.
    case none = ""
}

/// The JSON body of a refusal in the client protocol (spidr-wire §1.5).
///
/// `{"callControlResponse": {"statusCode": 42, "code": "call.not_found", "reason": "…"}}`
package struct ErrorBody: Hashable, Sendable {
    /// The top-level key above the members.
    package var wrapper: ErrorWrapper
    /// The members.
    package var refusal: Refusal

    /// What is wrong, below the wrapper.
    package struct Refusal: Hashable, Sendable, Codable {
        /// The application status code of the protocol (spidr-wire §1.6), which is not the HTTP status.
        package var statusCode: Int
        /// The name of the ``ErrorCode``, such as `call.not_found`.
        package var code: String
        /// A sentence for people: see ``APIError/reason``.
        package var reason: String
        /// How long the client waits before it asks again. `nil`: the member is left out.
        ///
        /// In milliseconds (spidr-wire §3.6), but in seconds when a request of the call is pending (§8.9).
        package var retryAfter: Int64?
        /// The state of the call by its name on the wire (docs/call-states.md). `nil` where it is not the reason.
        package var state: String?
    }
}

extension ErrorBody: Codable {
    /// Reads a refusal, with or without a wrapper, as a client does.
    ///
    /// - Throws: `DecodingError` if `statusCode`, `code` or `reason` is missing, or a member has the wrong type.
    package init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: WireKey.self)
        wrapper = ErrorWrapper.allCases.first { $0 != .none && outer.contains(WireKey($0.rawValue)) } ?? .none
        refusal =
            wrapper == .none
            ? try Refusal(from: decoder) : try outer.decode(Refusal.self, forKey: WireKey(wrapper.rawValue))
    }

    /// Writes the members below the wrapper, or at the top level if there is none.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        if wrapper == .none { return try refusal.encode(to: encoder) }
        var outer = encoder.container(keyedBy: WireKey.self)
        try outer.encode(refusal, forKey: WireKey(wrapper.rawValue))
    }
}
