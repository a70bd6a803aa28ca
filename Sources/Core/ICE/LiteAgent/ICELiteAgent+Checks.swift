import Primitives
import STUN

extension ICELiteAgent {
    /// What the agent does with a message.
    enum Verdict {
        /// It gives no response.
        case drop(ICERefusal)
        /// It responds without integrity, because the sender has not proved that it knows a password.
        case reject(ICERefusal, STUNMessage)
        /// It responds with integrity under the password that the sender used.
        case rejectAuthenticated(ICERefusal, STUNMessage, ICEParameters)
        /// It accepts the message as a valid check, made with these credentials.
        case accept(Used)
    }

    /// The credentials of a valid check, and the username fragment of its sender.
    struct Used {
        var credentials: Credentials
        var sender: String
    }

    /// Makes the checks of RFC 8489 §6.3, §9.1.3 and §6.3.1, then of RFC 8445 §7.3.1.1, in this order.
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

        // Deviation: MESSAGE-INTEGRITY-SHA256 alone is not accepted (RFC 8489 §9.1.3). RFC 8445 agents send
        // MESSAGE-INTEGRITY; if an agent sends both, that one is verified.
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
        // Deviation: RFC 8445 §7.3.1.1 compares tie-breakers. A lite agent cannot take the controlling role from a full
        // one, so the peer always has to switch its role.
        guard message.iceControlled == nil else {
            return .rejectAuthenticated(.roleConflict, .failure(.roleConflict, for: message), used.local)
        }
        return .accept(Used(credentials: used, sender: name.sender))
    }

    /// The credentials that USERNAME names: the current ones, or those from before a restart.
    ///
    /// The sender's fragment is compared only if the peer's description is known.
    private func credentials(for name: ICEUsername) -> Credentials? {
        [credentials, progress.previous].compactMap(\.self).first { known in
            known.local.ufrag == name.receiver && (known.remote.map { $0.ufrag == name.sender } ?? true)
        }
    }
}

extension STUNMessage {
    /// The success response, with the source address of the request (RFC 8489 §6.3.1.1).
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
