import NIOCore
package import NIOSSL
package import Primitives

/// Where the server listens and what it puts up with.
package struct SignalingConfiguration: Sendable {
    package struct Listener: Sendable {
        package var host: String
        /// 0 lets the system choose; see ``SignalingService/ports()``.
        package var port: Int
        /// `nil` is plain HTTP.
        package var tls: TLSConfiguration?

        package init(host: String, port: Int, tls: TLSConfiguration? = nil) {
            self.host = host
            self.port = port
            self.tls = tls
        }
    }

    /// Time-limited credentials for TURN servers that share a secret with the gateway.
    package struct TURN: Sendable {
        package var secret: Redacted<String>
        package var timeToLive: Duration

        package init(secret: Redacted<String>, timeToLive: Duration) {
            self.secret = secret
            self.timeToLive = timeToLive
        }
    }

    package var listeners: [Listener]
    /// Whose `X-Forwarded-For` is believed.
    package var trustedProxies = TrustedProxies()
    /// `nil`: clients get no credentials.
    package var turn: TURN?
    package var guests = GuestDesk.Configuration()
    /// Largest request body in bytes.
    package var maxBodyBytes = 1 << 20
    /// Largest request head in bytes.
    package var maxHeaderBytes = 32 << 10
    /// Open connections per listener; who comes then takes the place of a client that is waited for, or is turned away.
    package var maxConnections = 65_536
    /// Of these, connections of one IPv4 address or IPv6 /64 that are no notification channel.
    package var maxConnectionsPerAddress = 1_024
    /// A connection whose client takes nothing of what it is sent for this long is ended.
    package var writeTimeout = Duration.seconds(30)
    /// Requests of one connection that are answered at a time.
    package var requestsAtATime = 4
    /// Bytes of further requests that are kept for a client that ends its direction; a read takes up to 16 KiB at a time.
    package var bytesAhead = 64 << 10
    /// Bytes that the kernel keeps for one connection: sent and not acknowledged, and of these not even sent.
    package var kernelBuffers = (sent: 128 << 10, unsent: 32 << 10)
    /// From a connection's beginning to the end of its first request head, TLS handshake included.
    package var firstRequestTimeout = Duration.seconds(15)
    /// From a request's head to the end of its body.
    package var requestTimeout = Duration.seconds(30)
    /// How long, and how many bytes, a client may go on sending what has been refused, so that the refusal reaches it.
    package var linger = (time: Duration.seconds(2), bytes: 1 << 20)
    /// How long an idle HTTP connection is kept.
    package var keepAliveTimeout = Duration.seconds(75)
    /// Without a frame from the client for this long a channel is closed: three periods of the clients' pings.
    package var channelIdleTimeout = Duration.seconds(90)
    /// How long the client's close frame is waited for.
    package var channelCloseTimeout = Duration.seconds(2)
    /// Bytes of notifications that may wait for a slow reader; beyond it the channel is closed.
    package var slowReaderBytes = 1 << 20
    /// Largest message of a client in bytes; clients only send keep-alives.
    package var maxClientMessageBytes = 16 << 10

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
                closeTimeout: .init(channelCloseTimeout)),
            defaultDomain: defaultDomain
        )
    }
}
