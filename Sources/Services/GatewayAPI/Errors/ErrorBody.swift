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

    /// Makes a body of its parts; each parameter is the property of that name.
    package init(
        wrapper: ErrorWrapper, statusCode: Int, code: String, reason: String, retryAfter: Int64? = nil,
        state: String? = nil
    ) {
        self.wrapper = wrapper
        self.statusCode = statusCode
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.state = state
    }
}

extension ErrorBody: JSONWritable {
    /// Writes the members below the wrapper, or at the top level if there is none.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            if wrapper == .none {
                writeMembers(to: &object)
            } else {
                object.member(wrapper.rawValue, Members(of: self))
            }
        }
    }

    /// The members without the wrapper.
    private struct Members: JSONWritable {
        let body: ErrorBody
        init(of body: ErrorBody) { self.body = body }
        func write(to writer: inout JSONWriter) { writer.object { body.writeMembers(to: &$0) } }
    }

    private func writeMembers(to object: inout JSONWriter) {
        object.member("statusCode", statusCode)
        object.member("code", code)
        object.member("reason", reason)
        object.member("retryAfter", retryAfter)
        object.member("state", state)
    }
}

extension ErrorBody: Decodable {
    private enum Field: String, CodingKey {
        case statusCode, code, reason, retryAfter, state
    }

    /// Reads a refusal, with or without a wrapper, as a client does.
    ///
    /// - Throws: `DecodingError` if `statusCode`, `code` or `reason` is missing, or a member has the wrong type.
    package init(from decoder: any Decoder) throws {
        let outer = try decoder.container(keyedBy: WireKey.self)
        wrapper = ErrorWrapper.allCases.first { $0 != .none && outer.contains(WireKey($0.rawValue)) } ?? .none
        let fields =
            wrapper == .none
            ? try decoder.container(keyedBy: Field.self)
            : try outer.nestedContainer(keyedBy: Field.self, forKey: WireKey(wrapper.rawValue))
        statusCode = try fields.decode(Int.self, forKey: .statusCode)
        code = try fields.decode(String.self, forKey: .code)
        reason = try fields.decode(String.self, forKey: .reason)
        retryAfter = try fields.decodeIfPresent(Int64.self, forKey: .retryAfter)
        state = try fields.decodeIfPresent(String.self, forKey: .state)
    }
}
