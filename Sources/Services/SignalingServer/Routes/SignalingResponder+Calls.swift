import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes

/// Calls (spidr-wire §6).
extension SignalingResponder {
    /// Characters of a reason that are passed on; the rest is cut (spidr-wire §6.7).
    private static let reasonLength = 256

    func createCall(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let body = try exchange.decode(CallControlRequest.self)
        let (creation, warnings) = (try body.creation(defaultDomain: defaultDomain), try body.ignoredValues())
        ticket = await switchboard.requestBegan(exchange.user)
        do throws(CallError) {
            let session =
                switch creation {
                case .start(let request): try await switchboard.startCall(exchange.user, request)
                case .join(let first, let second, let request): try await switchboard.join(exchange.user, first, second, request)
                }
            return .json(.created, WireJSON.encode(wrapping: CallControlResponse(started: session, warnings: warnings)))
        } catch {
            throw APIError(error)
        }
    }

    func operate(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let body = try exchange.decode(CallControlRequest.self)
        let (operation, warnings) = (try body.operation(defaultDomain: defaultDomain), try body.ignoredValues())
        let session = SessionID(exchange.route.id)
        ticket = await switchboard.requestBegan(exchange.user)
        do throws(CallError) {
            switch operation {
            case .ringing: try await switchboard.ringing(exchange.user, session)
            case .answer(let request): try await switchboard.answer(exchange.user, session, request)
            case .audit: try await switchboard.audit(exchange.user, session)
            case .offer(let request): try await switchboard.offer(exchange.user, session, request)
            case .respond(let request): try await switchboard.respond(exchange.user, session, request)
            case .transfer(let address, let consultation):
                try await switchboard.transfer(exchange.user, session, to: address, consultation: consultation)
            case .candidates(let candidates): try await switchboard.candidates(exchange.user, session, candidates)
            case .parameters(let parameters): try await switchboard.sendParameters(exchange.user, session, parameters)
            }
        } catch {
            throw APIError(error)
        }
        return .json(.ok, WireJSON.encode(wrapping: CallControlResponse(warnings: warnings)))
    }

    func endCall(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let reason = exchange.reasonText.map { String($0.prefix(Self.reasonLength)) }
        ticket = await switchboard.requestBegan(exchange.user)
        do throws(CallError) {
            try await switchboard.end(exchange.user, SessionID(exchange.route.id), reasonText: reason)
        } catch {
            throw APIError(error)
        }
        return .json(.ok, WireJSON.encode(wrapping: CallControlResponse()))
    }

    func queryState(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        ticket = await switchboard.requestBegan(exchange.user)
        do throws(CallError) {
            let progress = try await switchboard.state(exchange.user, SessionID(exchange.route.id))
            return .json(.ok, WireJSON.encode(wrapping: CallControlResponse(progress: progress)))
        } catch {
            guard error == .noSuchCall else { throw APIError(error) }
            // This query has an application code of its own (spidr-wire §6.8).
            throw APIError(.callSessionNotFound, "This call does not exist or has ended.")
        }
    }

    func dispose(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let disposition = try exchange.decode(CallDispositionRequest.self).disposition(defaultDomain: defaultDomain)
        ticket = await switchboard.requestBegan(exchange.user)
        do throws(CallError) {
            switch disposition {
            case .reject(let session): try await switchboard.reject(exchange.user, session)
            case .forward(let session, let address): try await switchboard.forward(exchange.user, session, to: address)
            }
        } catch {
            throw APIError(error)
        }
        return .json(.ok, WireJSON.encode(wrapping: CallDispositionResponse()))
    }
}
