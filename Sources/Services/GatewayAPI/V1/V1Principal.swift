package import CallControl
package import Primitives

/// Who makes a request on `/v1`.
package enum V1Principal: Equatable, Sendable {
    /// An application, with the scopes of its key or token, the addresses that it owns, and the program of streams that
    /// it asks for without a URL; `nil`: it has none.
    case application(
        ApplicationIdentity, scopes: Set<ApplicationScope>, addresses: [ApplicationAddress],
        streamURL: WebSocketURL? = nil)
    /// A user of the client protocol.
    case user(UserAddress)
}
