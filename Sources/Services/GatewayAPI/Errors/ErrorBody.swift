import SPiDR

/// The top-level key of an error answer, one per resource (spidr-wire §1.5).
package enum ErrorWrapper: String, CaseIterable, Sendable {
    case subscribe = "subscribeResponse"
    case callControl = "callControlResponse"
    case callMe = "callMeResponse"
    case callDisposition = "callDispositionResponse"
    case media = "mediaResponse"
    case statistics = "statisticsResponse"
    case logHistory
    case logRecord
    // Services that this gateway does not have (spidr-wire §9–§11)
    case instantMessage = "imResponse"
    case presence = "presenceResponse"
    case presenceWatcher = "presenceWatcherResponse"
    case voicemail = "mwiresponse"
    case addressBook = "addressBookResponse"
    case directory
    case userProfile = "userProfileData"
    case routeList = "routeResponse"
    case clickToCall = "ctcResponse"
    case imrn = "imrnResponse"
    case eventSubscription = "eventSubscriptionResponse"
    case applePush = "appleDeviceRegistrationResponse"
    case googlePush = "googleDeviceRegistrationResponse"
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
    package func encode(to encoder: any Encoder) throws {
        if wrapper == .none { return try refusal.encode(to: encoder) }
        var outer = encoder.container(keyedBy: WireKey.self)
        try outer.encode(refusal, forKey: WireKey(wrapper.rawValue))
    }
}
