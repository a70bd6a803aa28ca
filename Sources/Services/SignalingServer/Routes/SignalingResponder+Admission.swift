import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import HummingbirdCore

/// Decides which requests are admitted, and whose resource a request is about.
extension SignalingResponder {
    private static let deviceHeader = "x-session"

    /// The user or guest that makes the request. This comes before anything else is looked at: without credentials a
    /// client learns nothing.
    ///
    /// - Throws: the reason why the request is not admitted.
    func principal(
        of request: Request, _ route: Route, _ audience: Endpoint.Audience, from requester: Requester
    ) async throws(APIError) -> Principal {
        switch audience {
        case .users:
            let (user, end) = try await user(of: request.headers[.authorization], from: requester)
            // The user in the path must be the requester (spidr-wire §1.1). Nearly always it is spelt the same.
            guard
                route.user == user.text
                    || UserAddress(parsing: route.user, defaultDomain: authenticator.defaultDomain) == user
            else {
                authenticator.countWrongUser()
                throw APIError(.authWrongUser, "The credentials belong to another user than the path.")
            }
            let device = request.headers.first { $0.name.canonicalName == Self.deviceHeader }
            return .user(user, device: device.map { SubscriptionID($0.value) }, until: end)
        case .guests:
            let query = request.uri.query == nil ? nil : request.uri.queryParameters
            let realm = query?["tokenrealm"].map(String.init)
            let account = try await guests.account(
                route.user, realm: realm, isStart: request.method == .post,
                isCharged: request.method == .post || request.method == .put && route.endpoint == .guestSubscription,
                from: requester.address)
            let path = ResourcePath(ofGuestCalling: guests.readsTokens ? route.user : account.text)
            return .guest(.init(account: account, realm: realm, address: requester.address, path: path))
        }
    }

    /// The user whose credentials are in an `Authorization` header, and when these expire, in seconds since 1970.
    private func user(
        of header: String?, from requester: Requester
    ) async throws(APIError) -> (UserAddress, until: Int64?) {
        guard let tokens, let token = TokenAuthenticator.token(in: header) else {
            return (try await authenticator.authenticate(header, from: requester), until: nil)
        }
        let bearer = try await tokens.authenticate(token, from: requester.address)
        return (bearer.user, until: bearer.expires)
    }

    /// The user whose resource is meant. The switchboard sees a guest as a user, too.
    ///
    /// - Parameters:
    ///   - resource: the name by which a guest is found; it starts with the guest's own name.
    ///   - error: thrown if there is no such guest, or it came to call another account than that in the path.
    func owner(
        of resource: String, _ exchange: RequestExchange, otherwise error: APIError = APIError(CallError.noSuchCall)
    ) async throws(APIError) -> UserAddress {
        switch exchange.principal {
        case .user(let user, _, _):
            return user
        case .guest(let visitor):
            guard let guest = GuestID(owning: resource), await registrar.account(of: guest) == visitor.account else {
                throw error
            }
            return UserAddress(guest)
        }
    }

    /// The owner of a session. Tells the switchboard that a request about the session has started.
    func startRequest(
        _ exchange: RequestExchange, about session: SessionID, _ ticket: inout RequestTicket?,
        otherwise error: APIError = APIError(CallError.noSuchCall)
    ) async throws(APIError) -> UserAddress {
        let user = try await owner(of: session.rawValue, exchange, otherwise: error)
        ticket = await registrar.requestStarted(user, about: session)
        return user
    }
}
