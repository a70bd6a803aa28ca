import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Registration
import SPiDR

/// Calls (spidr-wire §6).
extension SignalingResponder {
    func createCall(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let (wanted, user) = try await wantedCall(exchange)
        ticket = await registrar.requestStarted(user, about: nil)
        // The whole name is compared: users whom a guest has called know the part before the dot.
        if let channel = wanted.channel, await !registrar.channelExists(user, channel) {
            throw APIError(RegistrationError.noSuchSubscription)
        }
        do throws(CallError) {
            let session = try await switchboard.perform(wanted.request, by: user, from: exchange.device)
            ticket?.answer = AnsweredRequest(
                session, isNew: true, others: wanted.request.sessions, from: exchange.device)
            return exchange.answer(.created, CallControlResponse(started: session, warnings: wanted.warnings))
        } catch {
            throw APIError(error)
        }
    }

    /// The call that is to start, and the user who starts it. The switchboard sees a guest as a user, too.
    private func wantedCall(
        _ exchange: RequestExchange
    ) async throws(APIError) -> (ClientRequest.Meaning, by: UserAddress) {
        switch exchange.principal {
        case .user(let user, _, _): (try meaning(of: .creation(exchange.decode(CallControlRequest.self))), by: user)
        case .guest(let visitor): try await guestCall(exchange, of: visitor)
        }
    }

    /// The meaning of a request in the terms of call handling.
    func meaning(of request: ClientRequest) throws(APIError) -> ClientRequest.Meaning {
        do throws(RequestFault) {
            return try request.meaning(defaultDomain: defaultDomain)
        } catch {
            throw APIError(error)
        }
    }

    func operate(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let wanted = try meaning(of: .operation(exchange.decodeCallControl(), on: SessionID(exchange.id)))
        func operate() async throws(APIError) -> Answer {
            try await perform(wanted.request, exchange, &ticket)
            return exchange.answer(.ok, CallControlResponse(warnings: wanted.warnings))
        }
        // A call must not end for want of audits while nothing can be kept.
        if case .command(_, .audit) = wanted.request { return try await operate() }
        return try await durably(operate)
    }

    func endCall(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let wanted = try meaning(of: .end(SessionID(exchange.id), reasonText: exchange.reasonText))
        try await perform(wanted.request, exchange, &ticket)
        return exchange.answer(.ok)
    }

    func operateMedia(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let wanted = try meaning(of: .media(exchange.decode(MediaRequest.self), on: SessionID(exchange.id)))
        try await perform(wanted.request, exchange, &ticket)
        return .json(.ok, WireJSON.encode(wrapping: MediaResponse()))
    }

    func dispose(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let wanted = try meaning(of: .disposition(exchange.decode(CallDispositionRequest.self)))
        try await perform(wanted.request, exchange, &ticket)
        return .json(.ok, WireJSON.encode(wrapping: CallDispositionResponse()))
    }

    /// Tells the switchboard that a request about one session starts, and carries the request out.
    private func perform(
        _ request: CallRequest, _ exchange: RequestExchange, _ ticket: inout RequestTicket?
    ) async throws(APIError) {
        guard let session = request.sessions.first else { preconditionFailure("calls are started by createCall") }
        let user = try await startRequest(exchange, about: session, &ticket)
        if request.isDigested { ticket?.answer = AnsweredRequest(session, from: exchange.device) }
        do throws(CallError) {
            try await switchboard.perform(
                request, by: user, from: exchange.device, outlivesCall: request.outlivesCall)
        } catch {
            throw APIError(error)
        }
    }

    func queryState(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        // The state query has an application code of its own (spidr-wire §6.8).
        let noSuchSession = APIError(.callSessionNotFound, "This call does not exist or has ended.")
        let session = SessionID(exchange.id)
        let user = try await startRequest(exchange, about: session, &ticket, otherwise: noSuchSession)
        do throws(CallError) {
            return exchange.answer(.ok, CallControlResponse(try await switchboard.callSession(user, session)))
        } catch {
            throw error == .noSuchCall ? noSuchSession : APIError(error)
        }
    }

    func queryStatistics(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let user = try await owner(of: exchange.id, exchange)
        do throws(CallError) {
            let (own, statistics) = try await switchboard.statistics(user, SessionID(exchange.id))
            return .json(.ok, WireJSON.encode(wrapping: StatisticsResponse(statistics, seenFrom: own)))
        } catch {
            throw APIError(error)
        }
    }
}
