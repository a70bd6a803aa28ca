import NIOCore
package import NIOSSL
package import Primitives

/// Where the server listens, and its limits.
package struct SignalingConfiguration: Sendable {
    /// An address and port on which the server listens.
    package struct Listener: Sendable {
        /// A host name or an IP address.
        package var host: String
        /// The TCP port. With 0 the system chooses one; see ``SignalingService/ports()``.
        package var port: Int
        /// The TLS parameters; `nil`: plain HTTP.
        package var tls: TLSConfiguration?
        /// Whether the connections of trusted proxies start with a header of the PROXY protocol, before TLS.
        package var readsProxyHeaders: Bool

        /// Makes a listener of its parts; by default without TLS and without PROXY headers.
        package init(host: String, port: Int, tls: TLSConfiguration? = nil, readsProxyHeaders: Bool = false) {
            self.host = host
            self.port = port
            self.tls = tls
            self.readsProxyHeaders = readsProxyHeaders
        }
    }

    /// Time-limited credentials for TURN servers that share a secret with the gateway.
    package struct TURN: Sendable {
        /// The shared secret, `static-auth-secret` in coturn.
        package var secret: Redacted<String>
        /// How long credentials are valid, from when they are made; whole seconds.
        package var timeToLive: Duration

        /// Makes the parameters of their parts.
        package init(secret: Redacted<String>, timeToLive: Duration) {
            self.secret = secret
            self.timeToLive = timeToLive
        }
    }

    /// Where the server listens.
    package var listeners: [Listener]
    /// The reverse proxies whose `X-Forwarded-For` and PROXY headers are believed.
    package var trustedProxies = TrustedProxies()
    /// How TURN credentials are made. `nil`: clients get none.
    package var turn: TURN?
    /// Whether and how guests are admitted.
    package var guests = GuestAuthenticator.Configuration()
    /// How large the address books of users may become.
    package var addressBooks = AddressBookLimits()
    /// The largest request body, in bytes.
    package var maxBodyBytes = 1 << 20
    /// The largest request head, in bytes.
    package var maxHeaderBytes = 32 << 10
    /// How many connections one listener may have open. A connection beyond that takes the place of one that the
    /// gateway waits for, or is refused.
    package var maxConnections = 65_536
    /// How many of these connections one IPv4 address or IPv6 /64 may have, without notification channels.
    package var maxConnectionsPerAddress = 1_024
    /// The longest time in which a client may read none of the bytes that wait for it; then its connection is reset.
    package var writeTimeout = Duration.seconds(30)
    /// How many requests of one connection are answered at a time.
    package var requestsAtATime = 4
    /// How many bytes of further requests are kept for a client that ends its direction. One read takes up to 16 KiB.
    package var bytesAhead = 64 << 10
    /// How many bytes the kernel keeps for one connection: those sent and not acknowledged, and among them those not
    /// sent yet.
    package var kernelBuffers = (sent: 128 << 10, unsent: 32 << 10)
    /// The time from the start of a connection to the end of its first request head, TLS handshake included.
    package var firstRequestTimeout = Duration.seconds(15)
    /// The time from the head of a request to the end of its body.
    package var requestTimeout = Duration.seconds(30)
    /// How long, and how many bytes, a client may go on sending what has been refused, so that the refusal reaches it.
    package var linger = (time: Duration.seconds(2), bytes: 1 << 20)
    /// How long an idle HTTP connection is kept.
    package var keepAliveTimeout = Duration.seconds(75)
    /// How long a channel stays open without a frame from the client: three periods of the clients' pings.
    package var channelIdleTimeout = Duration.seconds(90)
    /// How long a long poll waits for a notification, in whole seconds. The client's own limit is 30 s more (spidr-wire
    /// §4.5).
    package var pollTime = Duration.seconds(30)
    /// How much longer than a poll a client may be away before it counts as cut off.
    static let pollAbsence = Duration.seconds(30)
    /// How channels are compressed whose clients offer it (RFC 7692); `nil`: not at all.
    package var compression: DeflateAgreement.Mode?
    /// How long the gateway waits for the client's close frame.
    package var channelCloseTimeout = Duration.seconds(2)
    /// When the gateway asks a client how much it has received: after so many notifications, which is 1 or more, and
    /// after this time at the latest.
    package var confirmation = (count: 25, delay: Duration.seconds(10))
    /// How many bytes of notifications may wait for a slow reader. Beyond that the channel is closed, unless the client
    /// goes on reading: it is sent what it missed in one go.
    package var slowReaderBytes = 1 << 20
    /// The largest message of a client, in bytes. Clients only send keep-alives.
    package var maxClientMessageBytes = 16 << 10

    /// Makes a configuration with the default limits.
    package init(listeners: [Listener]) { self.listeners = listeners }

    func channelSetup(defaultDomain: String) -> SignalingChannel.Configuration {
        SignalingChannel.Configuration(
            timeouts: ConnectionTimeouts(
                firstRequest: .init(firstRequestTimeout), request: .init(requestTimeout),
                linger: LingeringClose.Limits(time: .init(linger.time), bytes: linger.bytes)),
            keepAlive: keepAliveTimeout,
            headerLimit: maxHeaderBytes,
            ahead: RequestThrottle.Limits(requestsAtATime: requestsAtATime, bytesAhead: bytesAhead),
            channel: ChannelConfiguration(
                idleTimeout: .init(channelIdleTimeout), slowReaderLimit: slowReaderBytes,
                messageLimit: maxClientMessageBytes,
                closeTimeout: .init(channelCloseTimeout),
                confirmation: Confirmation.Limits(delay: .init(confirmation.delay), count: confirmation.count)),
            defaultDomain: defaultDomain,
            compression: compression
        )
    }
}
