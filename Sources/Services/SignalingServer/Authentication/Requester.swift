package import NIOCore
package import Primitives

/// Where a request comes from.
package struct Requester: Sendable {
    /// The client's address: that of the connection's peer, or the one that a trusted proxy reports. `nil`: not known.
    package let address: IPAddress?
    /// The peer of the connection, which may be a proxy; `nil`: not known.
    package let connection: NIOCore.SocketAddress?
    /// Whether the client still waits for the answer. Asked only about requests that had to wait.
    package let isPresent: @Sendable () async -> Bool

    /// Makes a requester of its parts. By default the client is always present.
    package init(
        _ address: IPAddress?, on connection: NIOCore.SocketAddress? = nil,
        isPresent: @escaping @Sendable () async -> Bool = { true }
    ) {
        self.address = address
        self.connection = connection
        self.isPresent = isPresent
    }
}
