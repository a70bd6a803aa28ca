import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes

/// Calls (spidr-wire §6).
extension SignalingResponder {
    func createCall(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let body = try exchange.decode(CallControlRequest.self)
        let (creation, warnings) = (try body.creation(defaultDomain: defaultDomain), try body.ignoredValues())
        ticket = await switchboard.requestBegan(exchange.user, about: nil)
        do throws(CallError) {
            let session =
                switch creation.from(exchange.device) {
                case .start(let request): try await switchboard.startCall(exchange.user, request)
                case .join(let first, let second, let request):
                    try await switchboard.join(exchange.user, first, second, request)
                }
            ticket?.answer = AnsweredRequest(session, isNew: true, others: creation.joined, from: exchange.device)
            return .json(.created, WireJSON.encode(wrapping: CallControlResponse(started: session, warnings: warnings)))
        } catch {
            throw APIError(error)
        }
    }

    func operate(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let body = try exchange.decode(CallControlRequest.self)
        let (operation, warnings) = (try body.operation(defaultDomain: defaultDomain), try body.ignoredValues())
        let session = SessionID(exchange.route.id)
        ticket = await switchboard.requestBegan(exchange.user, about: session)
        if operation.isDigested { ticket?.answer = AnsweredRequest(session, from: exchange.device) }
        try await carryOut(operation.from(exchange.device), exchange.user, session)
        return .json(.ok, WireJSON.encode(wrapping: CallControlResponse(warnings: warnings)))
    }

    func carryOut(_ operation: CallOperation, _ user: UserAddress, _ session: SessionID) async throws(APIError) {
        do throws(CallError) {
            switch operation {
            case .ringing(let device): try await switchboard.ringing(user, session, from: device)
            case .answer(let request): try await switchboard.answer(user, session, request)
            case .rejectReplacement(let device):
                try await switchboard.reject(user, session, from: device, replacement: true)
            case .audit: try await switchboard.audit(user, session)
            case .offer(let request): try await switchboard.offer(user, session, request)
            case .respond(let request): try await switchboard.respond(user, session, request)
            case .transfer(let address, let consultation):
                try await switchboard.transfer(user, session, to: address, consultation: consultation)
            case .candidates(let candidates): try await switchboard.candidates(user, session, candidates)
            case .content(let content): try await switchboard.send(user, session, content)
            }
        } catch {
            throw APIError(error)
        }
    }

    func endCall(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let session = SessionID(exchange.route.id)
        ticket = await switchboard.requestBegan(exchange.user, about: session)
        ticket?.answer = AnsweredRequest(session, from: exchange.device)
        try await end(exchange.user, session, from: exchange.device, reasonText: exchange.reasonText)
        return .json(.ok, WireJSON.encode(wrapping: CallControlResponse()))
    }

    func end(_ user: UserAddress, _ session: SessionID, from device: SubscriptionID? = nil, reasonText: String?)
        async throws(APIError)
    {
        do throws(CallError) {
            try await switchboard.end(user, session, from: device, reasonText: reasonText)
        } catch {
            throw APIError(error)
        }
    }

    func queryState(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let session = SessionID(exchange.route.id)
        ticket = await switchboard.requestBegan(exchange.user, about: session)
        return .json(.ok, WireJSON.encode(wrapping: CallControlResponse(try await callSession(exchange.user, session))))
    }

    func callSession(_ user: UserAddress, _ session: SessionID) async throws(APIError) -> CallSession {
        do throws(CallError) {
            return try await switchboard.callSession(user, session)
        } catch {
            guard error == .noSuchCall else { throw APIError(error) }
            // This query has an application code of its own (spidr-wire §6.8).
            throw APIError(.callSessionNotFound, "This call does not exist or has ended.")
        }
    }

    func dispose(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let disposition = try exchange.decode(CallDispositionRequest.self).disposition(defaultDomain: defaultDomain)
        ticket = await switchboard.requestBegan(exchange.user, about: disposition.session)
        ticket?.answer = AnsweredRequest(disposition.session, from: exchange.device)
        do throws(CallError) {
            switch disposition {
            case .reject(let session):
                try await switchboard.reject(exchange.user, session, from: exchange.device, replacement: false)
            case .forward(let session, let address): try await switchboard.forward(exchange.user, session, to: address)
            }
        } catch {
            throw APIError(error)
        }
        return .json(.ok, WireJSON.encode(wrapping: CallDispositionResponse()))
    }
}
