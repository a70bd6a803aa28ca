import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import SPiDR

/// Calls that the gateway places for a user (spidr-wire §10).
extension SignalingResponder {
    func clickToCall(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        guard case .user(let user, _, _) = exchange.principal else { preconditionFailure("guests have no such path") }
        let wanted = try meaning(of: .clickToCall(exchange.decode(ClickToCallRequest.self), by: user))
        ticket = await registrar.requestStarted(user, about: nil)
        do throws(CallError) {
            try await switchboard.perform(wanted.request, by: user, from: exchange.device)
        } catch {
            throw APIError(error)
        }
        // Clients know 200 (spidr-wire §1.4), although a call was made.
        return .json(.ok, WireJSON.encode(wrapping: ClickToCallResponse()))
    }
}
