import STUN

/// `#expect` copies its operands, which spans forbid: the same questions for arrays.
extension STUNMessage {
    init(parsing bytes: [UInt8]) throws(STUNError) { try self.init(parsing: bytes.span) }

    func hasValidFingerprint(in bytes: [UInt8]) -> Bool { hasValidFingerprint(in: bytes.span) }

    func hasValidIntegrity(in bytes: [UInt8], key: [UInt8]) -> Bool {
        hasValidIntegrity(in: bytes.span, key: key, authentication: TestAuthentication())
    }
}
