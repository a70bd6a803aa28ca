/// The value of ERROR-CODE: a number and a reason phrase for people (RFC 8489 §14.8).
package struct STUNErrorCode: Hashable, Sendable {
    /// The number, 300…699.
    package let code: Int
    /// The reason phrase, at most 763 bytes.
    package let reason: String

    /// Makes an error code; `nil` if the number is out of range or the reason has more than 763 bytes.
    package init?(_ code: Int, reason: String) {
        guard (300...699).contains(code), reason.utf8.count <= Self.maximumReasonSize else { return nil }
        self.init(known: code, reason)
    }

    private init(known code: Int, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    static let maximumReasonSize = 763

    /// 400: the request is malformed or lacks credentials.
    package static let badRequest = STUNErrorCode(known: 400, "Bad Request")
    /// 401: the credentials are wrong.
    package static let unauthenticated = STUNErrorCode(known: 401, "Unauthenticated")
    /// 420: the request has comprehension-required attributes that the gateway does not know.
    package static let unknownAttribute = STUNErrorCode(known: 420, "Unknown Attribute")
    /// 487: both agents claim the same ICE role (RFC 8445 §16.2).
    package static let roleConflict = STUNErrorCode(known: 487, "Role Conflict")
}
