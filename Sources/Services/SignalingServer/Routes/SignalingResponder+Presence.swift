import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Registration
import SPiDR

/// Presence (spidr-wire §9), and subscriptions to events (§10).
extension SignalingResponder {
    func setPresence(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let body = try exchange.decode(PresenceRequest.self)
        let presence = try understood { () throws(RequestFault) in try body.presence() }
        ticket = await registrar.requestStarted(exchange.account, about: nil)
        try await serving { () async throws(ServiceRefusal) in
            try await services.setPresence(presence, of: exchange.account)
        }
        return .json(.ok, WireJSON.encode(wrapping: PresenceResponse()))
    }

    func watchPresence(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let body = try exchange.decode(PresenceWatcherRequest.self)
        let meaning = try understood { () throws(RequestFault) in try body.meaning(defaultDomain: defaultDomain) }
        let user = exchange.account
        ticket = await registrar.requestStarted(user, about: nil)
        let response = try await serving { () async throws(ServiceRefusal) in
            switch meaning {
            case .watch(let users): return PresenceWatcherResponse(try await services.watch(users, by: user))
            case .stop(let users):
                await services.stopWatching(users, by: user)
                return PresenceWatcherResponse()
            case .get(let users):
                try await services.tellPresence(of: users, to: user)
                return PresenceWatcherResponse()
            }
        }
        return .json(.ok, WireJSON.encode(wrapping: response))
    }

    func subscribeToEvents(
        _ exchange: RequestExchange, _ ticket: inout RequestTicket?
    ) async throws(APIError) -> Answer {
        let body = try exchange.decode(EventSubscriptionRequest.self)
        let (kind, users, time) = try understood { () throws(RequestFault) in
            (try body.kind(), try body.users(defaultDomain: defaultDomain), try body.time())
        }
        ticket = await registrar.requestStarted(exchange.account, about: nil)
        let (id, grant) = try await serving { () async throws(ServiceRefusal) in
            try await services.subscribe(to: kind, of: users, for: time, by: exchange.account)
        }
        return .json(.created, WireJSON.encode(wrapping: EventSubscriptionResponse(grant, id: id)))
    }

    func extendEvents(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let body = try exchange.decode(EventSubscriptionRequest.self)
        let (users, time) = try understood { () throws(RequestFault) in
            (try body.users(defaultDomain: defaultDomain), try body.time())
        }
        ticket = await registrar.requestStarted(exchange.account, about: nil)
        let grant = try await serving { () async throws(ServiceRefusal) in
            try await services.extend(event: exchange.id, of: users, for: time, by: exchange.account)
        }
        return .json(.ok, WireJSON.encode(wrapping: EventSubscriptionResponse(grant, id: exchange.id)))
    }

    func unsubscribeFromEvents(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        try await serving { () async throws(ServiceRefusal) in
            try await services.unsubscribe(event: exchange.id, by: exchange.account)
        }
        return .json(.ok, WireJSON.encode(wrapping: EventSubscriptionResponse()))
    }

    /// What a body asks for.
    func understood<Value>(_ read: () throws(RequestFault) -> Value) throws(APIError) -> Value {
        do throws(RequestFault) {
            return try read()
        } catch {
            throw APIError(error)
        }
    }
}
