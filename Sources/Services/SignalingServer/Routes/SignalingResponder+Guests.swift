import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Observability

/// What is particular to guests, callers without an account (spidr-wire §7).
extension SignalingResponder {
    func answer(_ exchange: GuestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        switch (exchange.route.endpoint, exchange.method) {
        case (.guestSubscriptions, _): try await admit(exchange)
        case (.guestSubscription, .put): try await extend(exchange, &ticket)
        case (.guestSubscription, _): try await unsubscribe(exchange, &ticket)
        case (.guestCalls, _): try await createCall(exchange, &ticket)
        case (.guestCall, .put): try await operate(exchange, &ticket)
        case (.guestCall, .delete): try await endCall(exchange, &ticket)
        case (.guestCall, _): try await queryState(exchange, &ticket)
        case (.subscriptions, _), (.subscription, _), (.channel, _), (.calls, _), (.callSessions, _), (.call, _),
            (.callMedia, _),
            (.callStatistics, _), (.dispositions, _), (.logHistory, _), (.logRecord, _), (.guestChannel, _),
            (.isAlive, _), (.health, _), (.ready, _), (.metrics, _), (.page, _):
            preconditionFailure("only resources of guests are handed to this function")
        }
    }

    // MARK: - Subscriptions

    /// Nobody waits for anything of a guest that comes in: there is no ticket.
    private func admit(_ exchange: GuestExchange) async throws(APIError) -> Answer {
        let wishes = try exchange.decode(SubscribeRequest.self)
        let request = try wishes.subscriptionRequest()
        do throws(RegistrationError) {
            let grant = try await switchboard.admit(request, toCall: exchange.account, from: exchange.network)
            return .json(.created, WireJSON.encode(wrapping: subscribeResponse(grant, wishes, below: exchange.path)))
        } catch {
            if error == .limitOfNetworkGuests { metrics.authenticationFailures[.throttled].increment() }
            throw APIError(error)
        }
    }

    private func extend(_ exchange: GuestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let wishes = try exchange.decode(SubscribeRequest.self)
        let request = try wishes.subscriptionRequest()
        let guest = try await guest(
            owning: exchange.route.id, exchange, &ticket, otherwise: APIError(RegistrationError.noSuchSubscription))
        do throws(RegistrationError) {
            let grant = try await switchboard.extend(guest, SubscriptionID(exchange.route.id), request)
            return .json(.ok, WireJSON.encode(wrapping: subscribeResponse(grant, wishes, below: exchange.path)))
        } catch {
            throw APIError(error)
        }
    }

    private func unsubscribe(_ exchange: GuestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer
    {
        let guest = try await guest(
            owning: exchange.route.id, exchange, &ticket, otherwise: APIError(RegistrationError.noSuchSubscription))
        do throws(RegistrationError) {
            try await switchboard.unsubscribe(guest, SubscriptionID(exchange.route.id))
        } catch {
            throw APIError(error)
        }
        return .json(.ok, WireJSON.encode(wrapping: UnsubscribeResponse()))
    }

    // MARK: - Calls

    private func createCall(_ exchange: GuestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer
    {
        let body = try await exchange.decodeCall()
        let (creation, warnings) = (try body.call.creation(defaultDomain: defaultDomain), try body.call.ignoredValues())
        guard case .start(var request) = creation else {
            throw APIError(CallError.notForGuests("A guest cannot join calls."))
        }
        guard let channel = body.notifyChannelId, !channel.isEmpty else {
            throw APIError(
                .requestMissingField,
                "The field \"\(body.call.envelope).notifyChannelId\" is missing; it names the guest's channel.")
        }
        // A token's address is its realm's word. A name is the guest's own, and must not look like one of an account.
        request.callerName = body.callerName ?? request.callerName.map { "Guest: \($0)" }
        let guest = try await guest(
            owning: channel, exchange, &ticket, otherwise: APIError(RegistrationError.noSuchSubscription))
        // The whole name: what comes before the dot is known to the people that guests have called.
        guard await switchboard.channelExists(guest, ChannelID(channel)) else {
            throw APIError(RegistrationError.noSuchSubscription)
        }
        do throws(CallError) {
            let session = try await switchboard.startCall(guest, request)
            ticket?.answer = AnsweredRequest(session, isNew: true, from: nil)
            return .json(
                .created,
                WireJSON.encode(wrapping: CallMeResponse(CallControlResponse(started: session, warnings: warnings))))
        } catch {
            throw APIError(error)
        }
    }

    private func operate(_ exchange: GuestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let body = try exchange.decode(CallMeRequest.self).call
        let (operation, warnings) = (try body.operation(defaultDomain: defaultDomain), try body.ignoredValues())
        let guest = try await guest(
            owning: exchange.route.id, exchange, &ticket, otherwise: APIError(CallError.noSuchCall))
        if operation.isDigested { ticket?.answer = AnsweredRequest(SessionID(exchange.route.id), from: nil) }
        try await carryOut(operation, guest, SessionID(exchange.route.id))
        return .json(.ok, WireJSON.encode(wrapping: CallMeResponse(CallControlResponse(warnings: warnings))))
    }

    private func endCall(_ exchange: GuestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let guest = try await guest(
            owning: exchange.route.id, exchange, &ticket, otherwise: APIError(CallError.noSuchCall))
        ticket?.answer = AnsweredRequest(SessionID(exchange.route.id), from: nil)
        try await end(guest, SessionID(exchange.route.id), reasonText: exchange.reasonText)
        return .json(.ok, WireJSON.encode(wrapping: CallMeResponse()))
    }

    private func queryState(_ exchange: GuestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer
    {
        let noSuchSession = APIError(.callSessionNotFound, "This call does not exist or has ended.")
        let guest = try await guest(owning: exchange.route.id, exchange, &ticket, otherwise: noSuchSession)
        let session = try await callSession(guest, SessionID(exchange.route.id))
        return .json(.ok, WireJSON.encode(wrapping: CallMeResponse(CallControlResponse(session))))
    }

    /// The guest whose resource has this name, if it came to call the account of the path. The request has begun for it.
    private func guest(
        owning resource: String, _ exchange: GuestExchange, _ ticket: inout RequestTicket?, otherwise error: APIError
    ) async throws(APIError) -> UserAddress {
        guard let guest = GuestID(owning: resource), await switchboard.account(of: guest) == exchange.account else {
            throw error
        }
        let user = UserAddress(guest)
        ticket = await switchboard.requestBegan(user, about: SessionID(resource))
        return user
    }
}
