package import Primitives

/// What the owner of the agent has to do, in the order given.
package enum ICEAction: Hashable, Sendable {
    /// Send these bytes, a STUN response, unchanged.
    case transmit([UInt8], over: Path)
    /// An authenticated check came over this path. Packets that come over it belong to this session, and media is
    /// accepted from it.
    case pathValidated(Path)
    /// The path was silent for too long, or was displaced by another. Packets that come over it do not belong to this
    /// session any more.
    case pathForgotten(Path)
    /// Send over this path from now on.
    case selected(Path)
    /// Checks for this username fragment, from before an ICE restart, do not belong to this session any more.
    case fragmentRetired(String)
    /// No sign of life has come over any path for this long, so what is sent may not arrive. Consent has not expired
    /// yet.
    case pathLost(after: Duration)
    /// After `pathLost`: a sign of life has come again.
    case pathRecovered
    /// The agent has entered this state.
    case stateChanged(ICEState)
    /// A message was refused; count it.
    case refused(ICERefusal)
}

/// The state of an ICE session.
package enum ICEState: Hashable, Sendable {
    /// The peer cannot know the gateway's parameters yet; no timer runs.
    case waiting
    /// Both descriptions have been sent; no valid check has come.
    case checking
    /// A valid check has come, and nothing is nominated. Packets can be sent.
    case connected
    /// The peer has nominated a pair (RFC 8445 §8.1.1).
    case completed
    /// ICE restarts: new parameters have been sent, and the old pair carries media until the peer nominates one under
    /// the new ones (RFC 8445 §9).
    case restarting
    /// The connections under all paths are closed. The peer may come back while its consent lasts.
    case disconnected
    /// The session has failed; only a restart revives it.
    case failed(ICEFailure)
}

/// Why a session has failed.
package enum ICEFailure: Hashable, Sendable {
    /// No valid check came within the establishment timeout.
    case neverConnected
    /// No sign of life came within the consent timeout (RFC 7675 §5.1).
    case consentExpired
}

/// Why a message had no effect. Each value has a counter, labelled with its raw value.
package enum ICERefusal: String, Hashable, Sendable, CaseIterable {
    /// It has no FINGERPRINT, which ICE prescribes; it is dropped (RFC 8489 §7).
    case missingFingerprint = "missing_fingerprint"
    /// Its FINGERPRINT does not match; it is dropped.
    case wrongFingerprint = "wrong_fingerprint"
    /// Its method is not Binding; it is dropped (RFC 8489 §6.3).
    case unsupportedMethod = "unsupported_method"
    /// It is a Binding indication. Indications keep NAT bindings alive and need no action (RFC 8445 §11).
    case indication
    /// It is a response, although this agent sends no requests.
    case response
    /// It has no USERNAME or no MESSAGE-INTEGRITY; the response is 400 (RFC 8489 §9.1.3).
    case missingCredentials = "missing_credentials"
    /// Its USERNAME does not have the gateway's fragment, or names another peer; the response is 401 (RFC 8489 §9.1.3).
    case wrongUsername = "wrong_username"
    /// Its MESSAGE-INTEGRITY does not match; the response is 401 (RFC 8489 §9.1.3).
    case wrongIntegrity = "wrong_integrity"
    /// It has unknown comprehension-required attributes; the response is 420 (RFC 8489 §6.3.1).
    case unknownAttributes = "unknown_attributes"
    /// The peer claims the controlled role; the response is 487 (RFC 8445 §7.3.1.1).
    case roleConflict = "role_conflict"
    /// The session has failed; it answers nothing until it is restarted.
    case sessionFailed = "session_failed"

    /// Whether the sender has proved that it knows the gateway's password.
    package var isAuthenticated: Bool {
        switch self {
        case .unknownAttributes, .roleConflict: true
        case .missingFingerprint, .wrongFingerprint, .unsupportedMethod, .indication, .response, .missingCredentials,
            .wrongUsername,
            .wrongIntegrity, .sessionFailed:
            false
        }
    }
}
