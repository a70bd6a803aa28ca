package import CallControl

/// Who makes a request on `/v1`.
package enum V1Principal: Equatable, Sendable {
    /// An application, with the scopes of its key or token, and the addresses that it owns.
    case application(ApplicationName, scopes: Set<ApplicationScope>, addresses: [ApplicationAddress])
    /// A user of the client protocol.
    case user(UserAddress)
}
