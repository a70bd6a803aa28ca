/// Why a call ended, in the word that records and notifications use as well (docs/call-states.md).
package enum CallOutcome: String, MetricLabel {
    package static let labelName = "cause"

    /// Was answered; one of the parties hung up, or handed it to others.
    case normalClearing = "normal_clearing"
    /// The caller gave up before an answer.
    case originatorCancel = "originator_cancel"
    case callRejected = "call_rejected"
    case userBusy = "user_busy"
    /// Nobody answered within the ring time.
    case noAnswer = "no_answer"
    /// No device of the callee is registered.
    case subscriberAbsent = "subscriber_absent"
    case unallocatedNumber = "unallocated_number"
    /// What a description promised was not kept.
    case incompatibleDestination = "incompatible_destination"
    /// No media path, or it was lost.
    case mediaTimeout = "media_timeout"
    /// The subscription of one party ended while the call lasted.
    case subscriptionEnded = "subscription_ended"
    case clientLost = "client_lost"
    /// Two calls could not become a conference.
    case joinFailed = "join_failed"
    /// The gateway was stopping.
    case gatewayStopping = "normal_temporary_failure"
    /// A word that is none of these; worth a look into the log.
    case other
}

/// The limit that a call has met.
package enum CallLimit: String, MetricLabel {
    package static let labelName = "limit"

    /// Calls of the user who asks, at a time.
    case userCalls = "user_calls"
    /// Calls begun by the user who asks, in a short time.
    case userRate = "user_rate"
    /// Calls of the user who is called, at a time.
    case calleeCalls = "callee_calls"
    /// Calls that ring at the user who is called, in all or by the same caller.
    case calleeRinging = "callee_ringing"
    /// Calls of the gateway.
    case gatewayCalls = "gateway_calls"
}

/// The first digit of an HTTP status.
package enum HTTPStatusClass: String, MetricLabel {
    package static let labelName = "status"

    case informational = "1xx"
    case success = "2xx"
    case redirection = "3xx"
    case clientError = "4xx"
    case serverError = "5xx"

    /// A status outside 100…599 counts as a server error: only our own fault could produce it.
    package init(status: Int) {
        switch status {
        case 100..<200: self = .informational
        case 200..<300: self = .success
        case 300..<400: self = .redirection
        case 400..<500: self = .clientError
        default: self = .serverError
        }
    }
}

/// Why credentials were not accepted.
package enum AuthenticationFailure: String, MetricLabel {
    package static let labelName = "reason"

    /// No `Authorization` header.
    case missing
    /// A header that cannot be read, or a scheme that is not offered.
    case malformed
    case unknownUser = "unknown_user"
    case wrongPassword = "wrong_password"
    /// Valid credentials for somebody else's resource.
    case otherUser = "other_user"
    /// Too many wrong passwords from this address or for this account, or too many guests from it.
    case throttled
    /// A guest's token or realm that is none, or not of this time.
    case token
}

/// What became of a login whose password had to be checked.
package enum PasswordCheck: String, MetricLabel {
    package static let labelName = "result"

    case right
    case wrong
    /// The hash or the database failed.
    case failed
    /// The client had left before its turn.
    case abandoned
    /// Told to come back at a time of its own.
    case postponed
}

/// Why the gateway closed a WebSocket.
package enum WebSocketClosure: String, MetricLabel {
    package static let labelName = "reason"

    /// The peer closed it, or the connection broke.
    case byPeer = "by_peer"
    case subscriptionEnded = "subscription_ended"
    case replaced
    case goingAway = "going_away"
    /// The reader fell too far behind.
    case tooSlow = "too_slow"
    /// Neither a message nor a pong for too long.
    case silent
    /// The peer broke RFC 6455.
    case protocolError = "protocol_error"
}

/// Why somebody who connected was turned away before a byte was read.
package enum ConnectionRefusal: String, MetricLabel {
    package static let labelName = "reason"

    /// Too many connections of one address, all of them with a request that is being worked on.
    case address
    /// As many connections as the port may have, none of which could give way.
    case full
    /// The process had no descriptor left.
    case descriptors
}

/// Why the gateway ended a connection that is no notification channel, and was not asked to.
package enum ConnectionClosure: String, MetricLabel {
    package static let labelName = "reason"

    /// No request within the time for the first one.
    case silent
    /// A request that took too long to arrive.
    case slowRequest = "slow_request"
    /// Not HTTP, or a head that is too large.
    case malformed
    /// Answers were not taken.
    case unread
    /// Far more requests ahead than are answered at a time.
    case flooding
    /// Somebody else needed the place, and this client had been waited for longest.
    case evicted
    /// The gateway was stopping, and waited for this client in vain.
    case draining
}

/// Why a datagram or a packet inside it went no further.
package enum PacketDropReason: String, MetricLabel {
    package static let labelName = "reason"

    /// Neither STUN, DTLS nor RTP by its first byte (RFC 7983 §7).
    case unclassified
    /// Cannot be parsed.
    case malformed
    /// From an address that no authenticated check came from.
    case unknownAddress = "unknown_address"
    /// The keys are not agreed yet.
    case notConnected = "not_connected"
    /// Failed authentication or replay protection; see `orbweaver_srtp_failures_total`.
    case unprotected
    /// A stream or payload type that was not negotiated.
    case notNegotiated = "not_negotiated"
    /// The other leg cannot take media yet.
    case noRoute = "no_route"
    /// The description does not allow this direction.
    case wrongDirection = "wrong_direction"
    /// Came too late to be placed in its stream.
    case late
    /// The worker has too much to do.
    case overload
    /// To an address that nothing proves to be the peer's, beyond three times the bytes that came from there (RFC 9000 §8.1).
    case unprovenPath = "unproven_path"
    /// Of one source more than a peer may have, or of one too soon after many others.
    case tooManySources = "too_many_sources"
}

/// Why a STUN message was refused or ignored (RFC 8489 §6.3, RFC 8445 §7.3).
package enum STUNRefusal: String, MetricLabel {
    package static let labelName = "reason"

    case malformed
    case wrongFingerprint = "wrong_fingerprint"
    /// A username that belongs to no session.
    case unknownUsername = "unknown_username"
    case wrongIntegrity = "wrong_integrity"
    /// Answered with 487.
    case roleConflict = "role_conflict"
    /// Answered with 420.
    case unknownAttribute = "unknown_attribute"
    /// A method or class that a lite agent does not take.
    case unexpected
}

/// How a DTLS handshake ended.
package enum DTLSOutcome: String, MetricLabel {
    package static let labelName = "result"

    case completed
    case timedOut = "timed_out"
    case fingerprintMismatch = "fingerprint_mismatch"
    /// No common cipher, version or SRTP profile, or a broken message.
    case failed
}

/// Why an SRTP or SRTCP packet could not be turned into a plain one or back (RFC 3711 §3.3).
package enum SRTPFailure: String, MetricLabel {
    package static let labelName = "reason"

    case authentication
    case replay
    /// The key has been used for as many packets as it may be.
    case keyExhausted = "key_exhausted"
    case other
}

/// Why an end of a call had no way for its media any more.
package enum MediaSessionFailure: String, MetricLabel {
    package static let labelName = "reason"

    case neverConnected = "never_connected"
    case consentExpired = "consent_expired"
    case handshakeFailed = "handshake_failed"
    case fingerprintMismatch = "fingerprint_mismatch"
}

/// Why a TCP connection for media was closed (RFC 6544).
package enum MediaConnectionClosure: String, MetricLabel {
    package static let labelName = "reason"

    /// The peer closed it, or it broke.
    case byPeer = "by_peer"
    /// Its path is no longer of use: the call is over, or the peer has gone to another path.
    case released
    /// No valid connectivity check came in time.
    case silent
    /// Something other than a valid connectivity check came first.
    case unauthenticated
    /// A frame that is longer than any packet (RFC 4571 §2).
    case malformed
    /// Too many connections, in all or without a check from one address.
    case limit
}
