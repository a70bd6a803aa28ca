package import NIOSSL

/// Where the administration interface is served, and its limits.
package struct AdminConfiguration: Sendable {
    /// A TCP listener.
    package struct Address: Sendable {
        /// A host name or an IP address.
        package var host: String
        /// The TCP port; with 0 the system chooses one.
        package var port: Int
        /// The TLS parameters; `nil`: plain HTTP, for loopback only.
        package var tls: TLSConfiguration?

        /// Makes a listener of its parts; each parameter is the property of that name.
        package init(host: String, port: Int, tls: TLSConfiguration?) {
            self.host = host
            self.port = port
            self.tls = tls
        }
    }

    /// The path of the Unix socket; `nil`: there is none.
    package var socket: String?
    /// The TCP listener; `nil`: there is none.
    package var address: Address?
    /// The connections that a listener has open at a time; further ones wait.
    package var maxConnections = 64
    /// The largest request body, in bytes; an import may be that large.
    package var maxBodyBytes = 16 << 20
    /// The largest request head, in bytes.
    package var maxHeaderBytes = 16 << 10
    /// How long a connection may stay without a request, or take for one.
    package var idleTimeout = Duration.seconds(60)

    /// Makes a configuration with the default limits.
    package init(socket: String?, address: Address?) {
        self.socket = socket
        self.address = address
    }
}
