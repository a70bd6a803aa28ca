package import ICE
package import Primitives
package import SDP

/// What the owner of a session has to do, in the order given.
package enum SessionAction: Equatable, Sendable {
    /// Send these bytes, a STUN response, unchanged.
    case transmit([UInt8], over: Path)
    /// Take packets from this path for this session's from now on.
    case pathValidated(Path)
    /// Do not take packets from this path for this session's any more.
    case pathForgotten(Path)
    /// Checks for this username fragment of the gateway do not belong to this session any more.
    case fragmentRetired(String)
    /// Create the DTLS endpoint; as `.client`, also send the ClientHello.
    case startHandshake(DTLSRole)
    /// Count a STUN message that was refused, and why.
    case refused(ICERefusal)
    /// Report this event to the call.
    case event(SessionEvent)

    var isRefusal: Bool { if case .refused = self { true } else { false } }
}

/// A change that the call of a session is told.
package enum SessionEvent: Equatable, Sendable {
    /// A checked candidate pair may carry media.
    case iceConnected
    /// The handshake is complete: there are keys with the peer that the description announced.
    case dtlsConnected
    /// The first authenticated RTP packet has come.
    case mediaReceived
    /// An established session has received no check and no protected packet for this long; what the gateway sends may
    /// not arrive. `mediaPathRecovered` follows, or a failure when consent expires.
    case mediaPathLost(after: Duration)
    /// After `mediaPathLost`: the peer is back, perhaps at another address.
    case mediaPathRecovered
    /// The session is over; no further event follows.
    case failed(SessionFailure)
}

/// Why a session is over.
package enum SessionFailure: Equatable, Sendable {
    /// No valid check came in time.
    case neverConnected
    /// Consent has expired: the peer's checks stopped (RFC 7675).
    case consentExpired
    /// The DTLS handshake failed or took too long.
    case handshakeFailed
    /// The peer's certificate matches none of the announced fingerprints (RFC 8122 §5).
    case fingerprintMismatch
}
