/// The top-level key of an error answer (spidr-wire §1.5).
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
    /// Refusals of guests: who they are, what they may, how often they come.
    case authorization = "authorizationResponse"
    /// No wrapper: resources that have no response of their own.
    case none = ""
}

/// `{"callControlResponse": {"statusCode": 42, "code": "call.not_found", "reason": "…"}}`
package struct ErrorBody: Hashable, Sendable {
    package var wrapper: ErrorWrapper
    package var statusCode: Int
    package var code: String
    package var reason: String
    /// Milliseconds (spidr-wire §3.6); seconds when a request of the call is pending (§8.9).
    package var retryAfter: Int64?
    /// A state of calls by its name on the wire (docs/call-states.md).
    package var state: String?

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
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            if wrapper == .none {
                writeMembers(to: &object)
            } else {
                object.member(wrapper.rawValue, Members(of: self))
            }
        }
    }

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
