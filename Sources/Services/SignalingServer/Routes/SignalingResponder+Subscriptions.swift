import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Observability
import Primitives
import Registration
import SPiDR

/// Subscriptions (spidr-wire §3).
extension SignalingResponder {
    func subscribe(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let wishes = try exchange.decode(SubscribeRequest.self)
        let request = try subscriptionRequest(wishes, exchange)
        var used: UsedToken?
        if case .guest(let visitor) = exchange.principal {
            used = try await guests.use(visitor.token, of: visitor.realm)
        }
        do throws(RegistrationError) {
            let grant: SubscriptionGrant
            switch exchange.principal {
            case .user(let user, _, _):
                ticket = await registrar.requestStarted(user, about: nil)
                grant = try await registrar.subscribe(user, request)
            case .guest(let visitor):
                // Nothing waits for the answer to a guest that comes in, so there is no ticket.
                grant = try await registrar.admit(request, toCall: visitor.account, from: visitor.network)
                // If the process ends before this is durable, the guest has no answer, and may come again.
                if let used { journal.append(.tokenUsed(used)) }
            }
            return .json(.created, WireJSON.encode(wrapping: subscribeResponse(grant, wishes, exchange)))
        } catch {
            await guests.giveBack(used)
            if error.isOfOneSource { metrics.authenticationFailures[.throttled].increment() }
            throw APIError(error)
        }
    }

    func extend(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let wishes = try exchange.decode(SubscribeRequest.self)
        let user = try await startRequest(aboutSubscriptionOf: exchange, &ticket)
        return try await extend(SubscriptionID(exchange.id), of: user, wishes, exchange)
    }

    /// Extends the subscription of a device that names itself by its `clientCorrelator` (spidr-wire §3.2).
    func extendDevice(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let wishes = try exchange.decode(SubscribeRequest.self)
        guard case .user(let user, _, _) = exchange.principal,
            let subscription = await registrar.subscription(of: user, correlator: exchange.id)
        else { throw APIError(RegistrationError.noSuchSubscription) }
        ticket = await registrar.requestStarted(user, about: nil)
        return try await extend(subscription, of: user, wishes, exchange)
    }

    private func extend(
        _ subscription: SubscriptionID, of user: UserAddress, _ wishes: SubscribeRequest, _ exchange: RequestExchange
    ) async throws(APIError) -> Answer {
        let request = try subscriptionRequest(wishes, exchange)
        do throws(RegistrationError) {
            let grant = try await registrar.extend(user, subscription, request)
            return .json(.ok, WireJSON.encode(wrapping: subscribeResponse(grant, wishes, exchange)))
        } catch {
            throw APIError(error)
        }
    }

    func unsubscribe(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let user = try await startRequest(aboutSubscriptionOf: exchange, &ticket)
        do throws(RegistrationError) {
            try await registrar.unsubscribe(user, SubscriptionID(exchange.id))
            return .json(.ok, WireJSON.encode(wrapping: UnsubscribeResponse()))
        } catch {
            throw APIError(error)
        }
    }

    /// What a request asks registration for. A subscription made with a token does not outlive it; a token that is over
    /// by the issuer's clock, and not yet by the gateway's, gets the shortest time there is.
    private func subscriptionRequest(
        _ wishes: SubscribeRequest, _ exchange: RequestExchange
    ) throws(APIError) -> SubscriptionRequest {
        do throws(RequestFault) {
            var request = try wishes.subscriptionRequest()
            // Guests have a limit of their own.
            if case .user = exchange.principal { request.network = exchange.network }
            if case .user(_, _, .bearer(let bearer)) = exchange.principal {
                request.longestExpires = .seconds(max(1, (bearer.expires * 1_000 - clock.epochMilliseconds) / 1_000))
                request.allowedServices = bearer.services
            }
            return request
        } catch {
            throw APIError(error)
        }
    }

    /// The owner of the subscription in the path. Tells the switchboard that a request of that user has started.
    private func startRequest(aboutSubscriptionOf exchange: RequestExchange, _ ticket: inout RequestTicket?)
        async throws(APIError) -> UserAddress
    {
        let noSuchSubscription = APIError(RegistrationError.noSuchSubscription)
        let user = try await owner(of: exchange.id, exchange, otherwise: noSuchSubscription)
        ticket = await registrar.requestStarted(user, about: nil)
        return user
    }

    private func subscribeResponse(_ grant: SubscriptionGrant, _ wishes: SubscribeRequest, _ exchange: RequestExchange)
        -> SubscribeResponse
    {
        SubscribeResponse(
            grant, below: exchange.path, turn: turnCredentials(wishes, for: grant),
            session: session(of: grant.subscription, exchange),
            pollTime: wishes.isLongPolling ? pollTime : nil)
    }

    /// The identifier of the session of a subscription; `nil` unless its client came with a token of an application.
    private func session(of subscription: SubscriptionID, _ exchange: RequestExchange) -> String? {
        guard case .user(let user, _, .application) = exchange.principal else { return nil }
        return applications?.session(of: subscription, user)
    }

    /// Credentials for TURN servers; `nil` if the client did not ask for them or the gateway has no secret. The
    /// identifier of the subscription stands for the user in the servers' logs.
    private func turnCredentials(_ wishes: SubscribeRequest, for grant: SubscriptionGrant) -> SubscribeResponse
        .TURNField?
    {
        guard wishes.useTurn, let turn else { return nil }
        let credentials = TURNCredentials(
            secret: turn.secret, user: grant.subscription.rawValue, timeToLive: turn.timeToLive,
            at: clock.epochMilliseconds / 1_000)
        return SubscribeResponse.TURNField(username: credentials.username, password: credentials.password.value)
    }
}

extension RegistrationError {
    /// Whether too much came from one network or user.
    fileprivate var isOfOneSource: Bool {
        switch self {
        case .limitOfNetworkGuests, .limitOfNetwork, .tooOftenFromNetwork, .tooOften: true
        case .noSuchSubscription, .unsupportedServices, .limitOfSubscriptions, .limitOfAllSubscriptions, .limitOfGuests,
            .draining:
            false
        }
    }
}
