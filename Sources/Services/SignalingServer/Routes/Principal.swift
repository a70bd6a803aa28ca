import CallControl
import GatewayAPI
import Primitives

/// The user or guest that makes a request on a resource of the client protocol, once admitted.
///
/// A resource is served in the same way to both. They differ in how they are admitted, whose resource is meant, and how
/// bodies are written. Those differences stand here and in `Exchange`.
enum Principal: Sendable {
    /// A user with an account (spidr-wire §1.1).
    ///
    /// - Parameters:
    ///   - device: the user's device, if the request names it (spidr-wire §1.2).
    ///   - login: how the user was admitted.
    case user(UserAddress, device: SubscriptionID?, by: Login = .password)
    /// A guest, a caller without an account (spidr-wire §7).
    case guest(Visitor)

    /// How a user was admitted (spidr-wire §2).
    enum Login: Equatable, Sendable {
        /// By name and password.
        case password
        /// By a bearer token.
        case bearer(TokenPolicy.Bearer)
        /// By a token that an application got for the user, or by the session of a subscription made with one.
        case application
    }

    /// What a request tells about a guest: the account that it wants to call. The name of the resource says which guest
    /// it is.
    struct Visitor: Sendable {
        /// The account that the guest came to call, or claims to.
        let account: UserAddress
        /// The query `tokenrealm`; `nil` if there is none.
        let realm: String?
        /// The signed token in the path; `nil`: there is none.
        let token: SignedCallMeToken?
        /// The client's address; see ``Requester``.
        let address: IPAddress?
        /// The common prefix of the paths of the guest's resources. A guest that came with a token is not told
        /// the account.
        let path: ResourcePath

        /// The network that the guest comes from; `nil` if it is not known.
        var network: SourceNetwork? { address.map(SourceNetwork.init) }
    }
}
