/// The value of ERROR-CODE: 300…699 and a phrase for people (RFC 8489 §14.8).
package struct STUNErrorCode: Hashable, Sendable {
    package let code: Int
    package let reason: String

    /// `nil` for a code out of range or a reason of more than 763 bytes.
    package init?(_ code: Int, reason: String) {
        guard (300...699).contains(code), reason.utf8.count <= Self.maximumReasonSize else { return nil }
        self.init(known: code, reason)
    }

    private init(known code: Int, _ reason: String) {
        self.code = code
        self.reason = reason
    }

    static let maximumReasonSize = 763

    package static let badRequest = STUNErrorCode(known: 400, "Bad Request")
    package static let unauthenticated = STUNErrorCode(known: 401, "Unauthenticated")
    package static let unknownAttribute = STUNErrorCode(known: 420, "Unknown Attribute")
    /// RFC 8445 §16.2.
    package static let roleConflict = STUNErrorCode(known: 487, "Role Conflict")
}
