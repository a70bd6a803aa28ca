package import CallControl
package import Push

extension EndingWord: MetricLabel {
    /// The label of `orbweaver_calls_total`.
    package static var labelName: String { "cause" }
}

extension CallRequest.Kind: MetricLabel {
    /// The label of `orbweaver_call_requests_total` for what was asked for.
    package static var labelName: String { "request" }
}

extension CallRequest.Outcome: MetricLabel {
    /// The label of `orbweaver_call_requests_total` for what became of the request.
    package static var labelName: String { "result" }
}

extension RecordingEnd: MetricLabel {
    /// The label of `orbweaver_recordings_total`.
    package static var labelName: String { "reason" }
}

extension CallRefusal: MetricLabel {
    /// The label of `orbweaver_calls_refused_total`.
    package static var labelName: String { "limit" }
}

/// What becomes of devices that calls wake by push.
package enum WakeStep: String, MetricLabel {
    /// The label of `orbweaver_device_wakes_total`.
    package static let labelName = "step"

    /// The device was woken.
    case woken
    /// It came back while the call rang.
    case back
    /// The provider has refused its push, or has not had it.
    case failed
    /// It had not come back when the call rang no more.
    case missed
}

extension WakeRefusal: MetricLabel {
    /// The label of `orbweaver_wakes_refused_total`.
    package static var labelName: String { "limit" }
}

/// The class of an HTTP status, by its first digit.
package enum HTTPStatusClass: String, MetricLabel {
    /// The label of `orbweaver_http_requests_total`.
    package static let labelName = "status"

    /// 100 to 199 (RFC 9110 §15.2).
    case informational = "1xx"
    /// 200 to 299 (RFC 9110 §15.3).
    case success = "2xx"
    /// 300 to 399 (RFC 9110 §15.4).
    case redirection = "3xx"
    /// 400 to 499 (RFC 9110 §15.5).
    case clientError = "4xx"
    /// 500 to 599 (RFC 9110 §15.6), and every status outside 100 to 599.
    case serverError = "5xx"

    /// The class of a status. A status outside 100 to 599 counts as a server error: only a fault of the gateway could
    /// produce it.
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
    /// The label of `orbweaver_authentication_failures_total`.
    package static let labelName = "reason"

    /// There was no `Authorization` header.
    case missing
    /// The header could not be read, or its scheme is not offered.
    case malformed
    /// There is no account of this name.
    case unknownUser = "unknown_user"
    /// The password does not belong to the account.
    case wrongPassword = "wrong_password"
    /// Valid credentials were used for another user's resource.
    case otherUser = "other_user"
    /// There were too many wrong passwords from this address or for this account, or too many guests or subscriptions
    /// from this address.
    case throttled
    /// A bearer token was not accepted; or a guest's token or realm was invalid, or the token's time has passed.
    case token
}

/// The result of a login that needed the slow password hash.
package enum PasswordCheck: String, MetricLabel {
    /// The label of `orbweaver_password_checks_total`.
    package static let labelName = "result"

    /// The password was right.
    case right
    /// The password was wrong, or there is no such user.
    case wrong
    /// The hash or the database failed.
    case failed
    /// The client had left before its turn.
    case abandoned
    /// The client was told to come back at a time of its own.
    case postponed
}

/// Why a WebSocket was closed.
package enum WebSocketClosure: String, MetricLabel {
    /// The label of `orbweaver_websockets_closed_total`.
    package static let labelName = "reason"

    /// The peer closed it, or the connection broke.
    case byPeer = "by_peer"
    /// The subscription of the channel ended.
    case subscriptionEnded = "subscription_ended"
    /// The stream that it carried ended.
    case streamEnded = "stream_ended"
    /// Another socket opened the channel.
    case replaced
    /// The gateway was stopping.
    case goingAway = "going_away"
    /// The reader fell too far behind.
    case tooSlow = "too_slow"
    /// There was neither a message nor a pong for too long.
    case silent
    /// The peer broke RFC 6455.
    case protocolError = "protocol_error"
}

/// Why a new connection was refused before a byte was read.
package enum ConnectionRefusal: String, MetricLabel {
    /// The label of `orbweaver_connections_refused_total`.
    package static let labelName = "reason"

    /// One address had too many connections, and the gateway was working on a request of each.
    case address
    /// The port had as many connections as it may have, and none of them could give way.
    case full
    /// The process had no file descriptor left.
    case descriptors
}

/// Why the gateway closed a connection that is not a notification channel, without being asked.
package enum ConnectionClosure: String, MetricLabel {
    /// The label of `orbweaver_connections_closed_total`.
    package static let labelName = "reason"

    /// There was no request within the time for the first one.
    case silent
    /// A request took too long to arrive.
    case slowRequest = "slow_request"
    /// The bytes were not HTTP, or a head was too large.
    case malformed
    /// A trusted proxy's connection did not start with a valid PROXY header.
    case proxyHeader = "proxy_header"
    /// The client did not read its answers.
    case unread
    /// The client sent far more requests ahead than are answered at a time.
    case flooding
    /// Another client needed the place, and the gateway had waited for this one longest.
    case evicted
    /// The gateway was stopping, and waited for this client in vain.
    case draining
}

/// Why a datagram, or a packet inside it, went no further.
package enum PacketDropReason: String, MetricLabel {
    /// The label of `orbweaver_packets_dropped_total`.
    package static let labelName = "reason"

    /// Its first byte is neither that of STUN nor of DTLS nor of RTP (RFC 7983 §7).
    case unclassified
    /// It cannot be parsed.
    case malformed
    /// It came from an address from which no authenticated check has come.
    case unknownAddress = "unknown_address"
    /// The keys are not agreed yet.
    case notConnected = "not_connected"
    /// It failed authentication or replay protection; see `orbweaver_srtp_failures_total`.
    case unprotected
    /// Its stream or payload type was not negotiated.
    case notNegotiated = "not_negotiated"
    /// The other leg cannot receive media yet.
    case noRoute = "no_route"
    /// The description does not allow this direction.
    case wrongDirection = "wrong_direction"
    /// It came too late for its place in the stream.
    case late
    /// The worker has too much to do.
    case overload
    /// The kernel dropped it, because the receive buffer of a media socket was full.
    case fullSocket = "full_socket"
    /// It was to go to an address that is not proven to be the peer's, beyond three times the bytes that came from
    /// there (RFC 9000 §8.1).
    case unprovenPath = "unproven_path"
    /// Its source exceeds the number that a peer may have, or came too soon after many others.
    case tooManySources = "too_many_sources"
}

/// Why a STUN message was refused or ignored (RFC 8489 §6.3, RFC 8445 §7.3).
package enum STUNRefusal: String, MetricLabel {
    /// The label of `orbweaver_stun_refused_total`.
    package static let labelName = "reason"

    /// It cannot be parsed.
    case malformed
    /// Its FINGERPRINT attribute does not match.
    case wrongFingerprint = "wrong_fingerprint"
    /// Its username belongs to no session.
    case unknownUsername = "unknown_username"
    /// Its MESSAGE-INTEGRITY attribute does not match.
    case wrongIntegrity = "wrong_integrity"
    /// It was answered with 487.
    case roleConflict = "role_conflict"
    /// It was answered with 420.
    case unknownAttribute = "unknown_attribute"
    /// It has a method or class that an ICE-lite agent does not take.
    case unexpected
}

/// How a DTLS handshake ended.
package enum DTLSOutcome: String, MetricLabel {
    /// The label of `orbweaver_dtls_handshakes_total`.
    package static let labelName = "result"

    /// Both sides have agreed on keys.
    case completed
    /// It did not end in time.
    case timedOut = "timed_out"
    /// The peer's certificate does not have the fingerprint of its description (RFC 8122).
    case fingerprintMismatch = "fingerprint_mismatch"
    /// There was no common cipher, version or SRTP profile, or a message was broken.
    case failed
}

/// Why an SRTP or SRTCP packet could not be protected or unprotected (RFC 3711 §3.3).
package enum SRTPFailure: String, MetricLabel {
    /// The label of `orbweaver_srtp_failures_total`.
    package static let labelName = "reason"

    /// The authentication tag does not match.
    case authentication
    /// The packet came before, or is too old for the replay list.
    case replay
    /// The key has been used for as many packets as it may be.
    case keyExhausted = "key_exhausted"
    /// The packet is malformed, or the library failed in another way.
    case other
}

/// Why a leg has no media path any more.
package enum MediaSessionFailure: String, MetricLabel {
    /// The label of `orbweaver_media_sessions_failed_total`.
    package static let labelName = "reason"

    /// No valid connectivity check came in time.
    case neverConnected = "never_connected"
    /// The peer stopped checking the path (RFC 7675).
    case consentExpired = "consent_expired"
    /// The DTLS handshake failed.
    case handshakeFailed = "handshake_failed"
    /// The peer's certificate does not have the fingerprint of its description (RFC 8122).
    case fingerprintMismatch = "fingerprint_mismatch"
}

/// Why a TCP connection for media was closed (RFC 6544).
package enum MediaConnectionClosure: String, MetricLabel {
    /// The label of `orbweaver_media_connections_closed_total`.
    package static let labelName = "reason"

    /// The peer closed it, or it broke.
    case byPeer = "by_peer"
    /// Its path is no longer of use: the call is over, or the peer uses another path.
    case released
    /// No valid connectivity check came in time.
    case silent
    /// Something else than a valid connectivity check came first.
    case unauthenticated
    /// A frame was longer than any packet (RFC 4571 §2).
    case malformed
    /// There were too many connections, in all or from one address without a check.
    case limit
}

extension PushProvider: MetricLabel {
    /// The label of the metrics of push.
    package static var labelName: String { "provider" }
}

/// What has become of a push.
package enum PushResult: String, MetricLabel {
    /// The label of `orbweaver_pushes_total`.
    package static let labelName = "result"

    /// The provider has taken it.
    case delivered
    /// The provider does not know the device any more.
    case registrationDead = "registration_dead"
    /// Its time was over before the provider took it.
    case expired
    /// The provider refuses it.
    case refused
    /// The provider does not take the gateway's credential, or there is none.
    case credential
    /// There was no room for it.
    case overloaded
    /// Nobody wanted it any more before the provider took it.
    case withdrawn
    /// It was given up for another reason.
    case givenUp = "given_up"

    /// The result that an outcome counts as.
    package init(_ outcome: PushOutcome) {
        switch outcome {
        case .delivered: self = .delivered
        case .registrationDead: self = .registrationDead
        case .givenUp(.expired): self = .expired
        case .givenUp(.refused), .givenUp(.tooLarge): self = .refused
        case .givenUp(.credential): self = .credential
        case .givenUp(.overloaded): self = .overloaded
        case .givenUp(.withdrawn): self = .withdrawn
        case .givenUp(.noToken), .givenUp(.unreachable), .givenUp(.notConfigured), .givenUp(.unregistered),
            .givenUp(.shutDown):
            self = .givenUp
        }
    }
}

/// What an attempt to send an event to a webhook has led to.
package enum WebhookResult: String, MetricLabel {
    /// The label of `orbweaver_webhook_attempts_total`.
    package static let labelName = "result"

    /// The receiver has taken it.
    case delivered
    /// It is tried again.
    case retried
    /// It is given up.
    case parked
}
