/// The name of an endpoint, which hears legs and speaks for them (docs/adr/0009). A user may have the address of an
/// application, and call from it.
package enum EndpointAddress: Hashable, Sendable {
    /// The registration of a user or a guest.
    case registration(UserAddress)
    /// An application inside the gateway.
    case application(UserAddress)

    /// The name of this endpoint, which has that address.
    package init(_ endpoint: LegEndpoint, at address: UserAddress) {
        switch endpoint {
        case .application: self = .application(address)
        case .devices: self = .registration(address)
        }
    }

    /// The endpoint of a party.
    package init(of party: CallParty) { self.init(party.endpoint, at: party.user) }
}
