import Primitives
import STUN

extension ICELiteAgent {
    /// What is to be made of a message.
    enum Verdict {
        /// No answer.
        case drop(ICERefusal)
        /// An answer without integrity: there is no password that the sender has shown to know.
        case reject(ICERefusal, STUNMessage)
        /// An answer with the integrity of the password that the sender used.
        case rejectAuthenticated(ICERefusal, STUNMessage, ICEParameters)
        /// A valid check, made with these credentials.
        case accept(Used)
    }

    /// The credentials of a valid check, and the fragment its sender calls itself.
    struct Used {
        var credentials: Credentials
        var sender: String
    }

    /// The checks of RFC 8489 §6.3, §9.1.3 and §6.3.1, then RFC 8445 §7.3.1.1, in this order.
    func examine(_ message: STUNMessage, raw: Span<UInt8>, authentication: some MessageAuthentication) -> Verdict {
        if case .failed = progress { return .drop(.sessionFailed) }
        guard message.method == .binding else { return .drop(.unsupportedMethod) }
        switch message.messageClass {
        case .indication: return .drop(.indication)
        case .success, .error: return .drop(.response)
        case .request: break
        }
        guard message.protection.fingerprint != nil else { return .drop(.missingFingerprint) }
        guard message.hasValidFingerprint(in: raw) else { return .drop(.wrongFingerprint) }

        // Deviation: MESSAGE-INTEGRITY-SHA256 alone does not count (RFC 8489 §9.1.3). RFC 8445 agents send
        // MESSAGE-INTEGRITY, and one that sends both is verified by that.
        guard let username = message.username, message.protection.integrity != nil else {
            return .reject(.missingCredentials, .failure(.badRequest, for: message))
        }
        guard let name = ICEUsername(parsing: username), let used = credentials(for: name) else {
            return .reject(.wrongUsername, .failure(.unauthenticated, for: message))
        }
        guard
            message.hasValidIntegrity(
                in: raw, key: Array(used.local.password.value.utf8), authentication: authentication)
        else {
            return .reject(.wrongIntegrity, .failure(.unauthenticated, for: message))
        }
        let unknown = message.unknownRequiredAttributes
        guard unknown.isEmpty else {
            let response = STUNMessage.failure(.unknownAttribute, for: message, [.unknownAttributes(unknown)])
            return .rejectAuthenticated(.unknownAttributes, response, used.local)
        }
        // Deviation: RFC 8445 §7.3.1.1 compares tie-breakers. A lite agent cannot take the controlling role from a
        // full one, so the peer always has to give way.
        guard message.iceControlled == nil else {
            return .rejectAuthenticated(.roleConflict, .failure(.roleConflict, for: message), used.local)
        }
        return .accept(Used(credentials: used, sender: name.sender))
    }

    /// The credentials that USERNAME names, the current ones or those from before a restart.
    ///
    /// The sender's half is compared only once the peer's description has told it.
    private func credentials(for name: ICEUsername) -> Credentials? {
        [credentials, progress.previous].compactMap(\.self).first { known in
            known.local.ufrag == name.receiver && (known.remote.map { $0.ufrag == name.sender } ?? true)
        }
    }
}

extension STUNMessage {
    /// RFC 8489 §6.3.1.1: the request's source address goes back to its sender.
    static func success(for request: STUNMessage, from source: SocketAddress) -> STUNMessage {
        STUNMessage(.success, request.method, request.transactionID, [.xorMappedAddress(source)])
    }

    static func failure(_ error: STUNErrorCode, for request: STUNMessage, _ more: [STUNAttribute] = []) -> STUNMessage {
        STUNMessage(.error, request.method, request.transactionID, [.errorCode(error)] + more)
    }

    func encoded(with parameters: ICEParameters, _ authentication: some MessageAuthentication) -> [UInt8] {
        encoded(password: parameters.password.value, authentication: authentication)
    }
}
