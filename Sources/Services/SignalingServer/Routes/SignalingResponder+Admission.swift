import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import HummingbirdCore

/// Decides which requests are admitted, and whose resource a request is about.
extension SignalingResponder {
    /// The user or guest that makes the request. This comes before anything else is looked at: without credentials a
    /// client learns nothing.
    ///
    /// - Throws: the reason why the request is not admitted.
    func principal(
        of request: Request, _ route: Route, _ audience: Endpoint.Audience, from requester: Requester
    ) async throws(APIError) -> Principal {
        switch audience {
        case .users:
            if let applications, request.headers[.authorization] == nil,
                let principal = try await principal(by: applications, of: request, route, from: requester)
            {
                return principal
            }
            let (user, login) = try await user(of: request.headers[.authorization], from: requester)
            // The user in the path must be the requester (spidr-wire §1.1). Nearly always it is spelt the same.
            guard
                route.user == user.text
                    || UserAddress(parsing: route.user, defaultDomain: authenticator.defaultDomain) == user
            else {
                authenticator.countWrongUser()
                throw APIError(.authWrongUser, "The credentials belong to another user than the path.")
            }
            return .user(user, device: request.headers[.xSession].map { SubscriptionID($0) }, by: login)
        case .guests:
            let query = request.uri.query == nil ? nil : request.uri.queryParameters
            let realm = query?["tokenrealm"].map(String.init)
            let pass = try await guests.account(
                route.user, realm: realm, isStart: request.method == .post,
                isCharged: request.method == .post || request.method == .put && route.endpoint == .guestSubscription,
                from: requester.address)
            let path = ResourcePath(ofGuestCalling: guests.readsTokens ? route.user : pass.address.text)
            return .guest(
                .init(account: pass.address, realm: realm, token: pass.signed, address: requester.address, path: path))
        }
    }

    /// The user whose credentials are in an `Authorization` header, and what they are.
    private func user(
        of header: String?, from requester: Requester
    ) async throws(APIError) -> (UserAddress, by: Principal.Login) {
        guard let tokens, let token = TokenAuthenticator.token(in: header) else {
            return (try await authenticator.authenticate(header, from: requester), by: .password)
        }
        let bearer = try await tokens.authenticate(token, from: requester.address)
        return (bearer.user, by: .bearer(bearer))
    }

    /// The user whom an application has sent, by the token in the request for a subscription, or by the session of a
    /// subscription in every other request (spidr-wire §2); `nil`: the request has neither.
    private func principal(
        by applications: ApplicationAuthenticator, of request: Request, _ route: Route, from requester: Requester
    ) async throws(APIError) -> Principal? {
        guard let user = UserAddress(parsing: route.user, defaultDomain: authenticator.defaultDomain) else {
            return nil
        }
        if route.endpoint == .subscriptions, let token = request.headers[.xToken] {
            try await applications.redeem(token, of: user, from: requester.address)
            return .user(user, device: nil, by: .application)
        }
        guard let session = request.headers[.xSession],
            let subscription = try await applications.subscription(of: session, user, from: requester.address)
        else { return nil }
        guard await registrar.subscriptionExists(user, subscription) else { throw .sessionEnded }
        return .user(user, device: subscription, by: .application)
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

extension HTTPField.Name {
    /// The token of an application, in the request for a subscription (spidr-wire §1.2).
    static let xToken = Self("x-token")!
    /// The session of a subscription, or the subscription itself (spidr-wire §1.2).
    static let xSession = Self("x-session")!
    /// The signature of a request for a token of an application (spidr-wire §2).
    static let hmac = Self("hmac")!
}
