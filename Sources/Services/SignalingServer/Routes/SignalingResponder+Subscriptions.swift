import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes

/// Subscriptions (spidr-wire §3).
extension SignalingResponder {
    func subscribe(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let request = try exchange.decode(SubscribeRequest.self).subscriptionRequest()
        ticket = await switchboard.requestBegan(exchange.user)
        do throws(RegistrationError) {
            let grant = try await switchboard.subscribe(exchange.user, request)
            return .json(.created, WireJSON.encode(wrapping: SubscribeResponse(grant, of: exchange.user)))
        } catch {
            throw APIError(error)
        }
    }

    func extend(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let request = try exchange.decode(SubscribeRequest.self).subscriptionRequest()
        ticket = await switchboard.requestBegan(exchange.user)
        do throws(RegistrationError) {
            let grant = try await switchboard.extend(exchange.user, SubscriptionID(exchange.route.id), request)
            return .json(.ok, WireJSON.encode(wrapping: SubscribeResponse(grant, of: exchange.user)))
        } catch {
            throw APIError(error)
        }
    }

    func unsubscribe(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        ticket = await switchboard.requestBegan(exchange.user)
        do throws(RegistrationError) {
            try await switchboard.unsubscribe(exchange.user, SubscriptionID(exchange.route.id))
            return .json(.ok, WireJSON.encode(wrapping: UnsubscribeResponse()))
        } catch {
            throw APIError(error)
        }
    }
}
