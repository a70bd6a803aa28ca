import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Registration
import SPiDR

/// Messages between users, and the number of voice messages (spidr-wire §9).
extension SignalingResponder {
    func sendMessage(_ exchange: RequestExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let user = exchange.account
        let body = try exchange.decode(InstantMessageRequest.self)
        let request = try understood { () throws(RequestFault) in
            try body.messageRequest(maximumLength: services.maximumMessageLength, defaultDomain: defaultDomain)
        }
        ticket = await registrar.requestStarted(user, about: nil)
        let message = try await serving { () async throws(ServiceRefusal) in
            try await services.send(request, by: user)
        }
        // A client knows the name of its message only some time after the answer (spidr-wire §12.1).
        ticket?.answer = AnsweredRequest(SessionID(message), from: exchange.device)
        return .json(.created, WireJSON.encode(wrapping: InstantMessageResponse(messageId: message)))
    }

    func queryVoicemail(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        .json(.ok, WireJSON.encode(wrapping: VoicemailResponse(await services.voicemail(of: exchange.account))))
    }

    /// Carries out a request about a service.
    func serving<Value>(_ perform: () async throws(ServiceRefusal) -> Value) async throws(APIError) -> Value {
        do throws(ServiceRefusal) {
            return try await perform()
        } catch {
            throw APIError(error)
        }
    }
}
