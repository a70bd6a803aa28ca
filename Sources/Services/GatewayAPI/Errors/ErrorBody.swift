/// The top-level key of an error answer (spidr-wire §1.5).
package enum ErrorWrapper: String, CaseIterable, Sendable {
    case subscribe = "subscribeResponse"
    case callControl = "callControlResponse"
    case callDisposition = "callDispositionResponse"
    /// Failures on anonymous resources.
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
    /// Milliseconds (spidr-wire §3.6).
    package var retryAfter: Int64?

    package init(wrapper: ErrorWrapper, statusCode: Int, code: String, reason: String, retryAfter: Int64? = nil) {
        self.wrapper = wrapper
        self.statusCode = statusCode
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
    }
}

extension ErrorBody: Codable {
    private enum Field: String, CodingKey {
        case statusCode, code, reason, retryAfter
    }

    package func encode(to encoder: any Encoder) throws {
        switch wrapper {
        case .none:
            try encode(into: encoder.container(keyedBy: Field.self))
        case .subscribe, .callControl, .callDisposition, .authorization:
            var outer = encoder.container(keyedBy: WireKey.self)
            try encode(into: outer.nestedContainer(keyedBy: Field.self, forKey: WireKey(wrapper.rawValue)))
        }
    }

    private func encode(into container: KeyedEncodingContainer<Field>) throws {
        var container = container
        try container.encode(statusCode, forKey: .statusCode)
        try container.encode(code, forKey: .code)
        try container.encode(reason, forKey: .reason)
        try container.encodeIfPresent(retryAfter, forKey: .retryAfter)
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
    }
}
