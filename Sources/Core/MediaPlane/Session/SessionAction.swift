package import ICE
package import Primitives
package import SDP

/// What a session wants done, in the order given.
package enum SessionAction: Equatable, Sendable {
    /// Send these bytes as they are: a STUN response.
    case transmit([UInt8], over: Path)
    /// Packets from this path may be this session's from now on.
    case pathValidated(Path)
    /// Packets from this path are not this session's any more.
    case pathForgotten(Path)
    /// Checks for this username fragment are nobody's any more.
    case fragmentRetired(String)
    /// Create the DTLS endpoint; as `.client` also send the ClientHello.
    case startHandshake(DTLSRole)
    case refused(ICERefusal)
    case event(SessionEvent)

    var isRefusal: Bool { if case .refused = self { true } else { false } }
}

/// What the call behind a session wants to know.
package enum SessionEvent: Equatable, Sendable {
    /// A checked pair may carry media.
    case iceConnected
    /// Keys are agreed with the peer that the description announced.
    case dtlsConnected
    /// The first authenticated media packet came in.
    case mediaReceived
    /// An established session has had no check and no protected packet for this long: what is sent may not arrive. It
    /// ends when consent does.
    case mediaPathLost(after: Duration)
    /// After `mediaPathLost`: the peer is back, perhaps from another address.
    case mediaPathRecovered
    /// The session is over; nothing more follows.
    case failed(SessionFailure)
}

package enum SessionFailure: Equatable, Sendable {
    case neverConnected
    case consentExpired
    case handshakeFailed
    case fingerprintMismatch
}
