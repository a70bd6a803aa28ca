import CallControl
import CallRuntime
import GatewayAPI
import Registration
import SPiDR

/// What is particular to guests, callers without an account (spidr-wire §7).
extension SignalingResponder {
    /// The call that a guest starts, with addresses in place of tokens, and the guest.
    func guestCall(
        _ exchange: RequestExchange, of visitor: Principal.Visitor
    ) async throws(APIError) -> (ClientRequest.Meaning, by: UserAddress) {
        var body = try exchange.decode(CallMeRequest.self)
        // The address in a token is confirmed by its realm.
        var confirmedName: String?
        if guests.readsTokens {
            if let to = body.call.to { body.call.to = try await address(to, visitor).text }
            if let token = visitor.token {
                // The token in the path says who calls.
                (body.call.from, confirmedName) = (nil, token.callerName)
            } else if let from = body.call.from {
                confirmedName = try await address(from, visitor).text
                body.call.from = confirmedName
            }
        }
        let wanted = try meaning(of: .guestCreation(body, confirmedName: confirmedName))
        guard let channel = wanted.channel else { preconditionFailure("a guest's call has a channel") }
        let noSuchSubscription = APIError(RegistrationError.noSuchSubscription)
        return (wanted, by: try await owner(of: channel.rawValue, exchange, otherwise: noSuchSubscription))
    }

    /// The address that a token in a body stands for.
    private func address(_ token: String, _ visitor: Principal.Visitor) async throws(APIError) -> UserAddress {
        try await guests.address(token, realm: visitor.realm, from: visitor.address)
    }
}
