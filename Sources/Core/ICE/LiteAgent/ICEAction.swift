package import Primitives

/// What the agent wants done, in the order given.
package enum ICEAction: Hashable, Sendable {
    /// Send these bytes: a STUN response.
    case transmit([UInt8], over: Path)
    /// An authenticated check came over this path: media is welcome from it, and packets from there are this session's.
    case pathValidated(Path)
    /// The path has been silent for too long, or made room for another: packets from there are nobody's.
    case pathForgotten(Path)
    /// Send over this path from now on.
    case selected(Path)
    /// Checks for this username fragment, from before an ICE restart, no longer belong to this session.
    case fragmentRetired(String)
    /// No sign of life for this long, over any path: what is sent may not arrive. Consent has not expired yet.
    case pathLost(after: Duration)
    /// After `pathLost`: a sign of life has come again.
    case pathRecovered
    case stateChanged(ICEState)
    /// Something was not accepted; for the counters.
    case refused(ICERefusal)
}

/// How far the session has come.
package enum ICEState: Hashable, Sendable {
    /// The peer cannot know our parameters yet; no clock runs.
    case waiting
    /// Both descriptions are out; no valid check so far.
    case checking
    /// A valid check has come; nothing is nominated. Sending is possible.
    case connected
    /// The peer has nominated a pair (RFC 8445 §8.1.1).
    case completed
    /// New parameters are out; the old pair carries media until the peer nominates under the new ones (RFC 8445 §9).
    case restarting
    /// The connections under all paths are closed; the peer may come back while its consent lasts.
    case disconnected
    case failed(ICEFailure)
}

package enum ICEFailure: Hashable, Sendable {
    /// No valid check within the establishment timeout.
    case neverConnected
    /// No sign of life for the consent timeout (RFC 7675 §5.1).
    case consentExpired
}

/// Why a message had no effect. One value, one counter.
package enum ICERefusal: String, Hashable, Sendable, CaseIterable {
    /// No FINGERPRINT: dropped (RFC 8489 §7, which ICE prescribes).
    case missingFingerprint = "missing_fingerprint"
    /// FINGERPRINT does not match: dropped.
    case wrongFingerprint = "wrong_fingerprint"
    /// A method other than Binding: dropped (RFC 8489 §6.3).
    case unsupportedMethod = "unsupported_method"
    /// A Binding indication, which keeps NAT bindings alive and means nothing to us (RFC 8445 §11).
    case indication
    /// A response, although this agent never asks.
    case response
    /// No USERNAME or no MESSAGE-INTEGRITY: 400 (RFC 8489 §9.1.3).
    case missingCredentials = "missing_credentials"
    /// USERNAME is not ours, or names another peer: 401 (RFC 8489 §9.1.3).
    case wrongUsername = "wrong_username"
    /// MESSAGE-INTEGRITY does not match: 401 (RFC 8489 §9.1.3).
    case wrongIntegrity = "wrong_integrity"
    /// Unknown comprehension-required attributes: 420 (RFC 8489 §6.3.1).
    case unknownAttributes = "unknown_attributes"
    /// The peer says that it is controlled: 487 (RFC 8445 §7.3.1.1).
    case roleConflict = "role_conflict"
    /// The session has failed; it answers nothing until it is restarted.
    case sessionFailed = "session_failed"

    /// Whether the sender has shown that it knows our password.
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
