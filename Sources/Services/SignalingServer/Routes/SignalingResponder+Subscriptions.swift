import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Primitives

/// Subscriptions (spidr-wire §3).
extension SignalingResponder {
    func subscribe(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let wishes = try exchange.decode(SubscribeRequest.self)
        let request = try wishes.subscriptionRequest()
        ticket = await switchboard.requestBegan(exchange.user, about: nil)
        do throws(RegistrationError) {
            let grant = try await switchboard.subscribe(exchange.user, request)
            return .json(
                .created,
                WireJSON.encode(wrapping: subscribeResponse(grant, wishes, below: ResourcePath(of: exchange.user))))
        } catch {
            throw APIError(error)
        }
    }

    func extend(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let wishes = try exchange.decode(SubscribeRequest.self)
        let request = try wishes.subscriptionRequest()
        ticket = await switchboard.requestBegan(exchange.user, about: nil)
        do throws(RegistrationError) {
            let grant = try await switchboard.extend(exchange.user, SubscriptionID(exchange.route.id), request)
            return .json(
                .ok, WireJSON.encode(wrapping: subscribeResponse(grant, wishes, below: ResourcePath(of: exchange.user)))
            )
        } catch {
            throw APIError(error)
        }
    }

    func unsubscribe(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        ticket = await switchboard.requestBegan(exchange.user, about: nil)
        do throws(RegistrationError) {
            try await switchboard.unsubscribe(exchange.user, SubscriptionID(exchange.route.id))
            return .json(.ok, WireJSON.encode(wrapping: UnsubscribeResponse()))
        } catch {
            throw APIError(error)
        }
    }

    func subscribeResponse(_ grant: SubscriptionGrant, _ wishes: SubscribeRequest, below path: ResourcePath)
        -> SubscribeResponse
    {
        SubscribeResponse(grant, below: path, turn: turnCredentials(wishes, for: grant))
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
