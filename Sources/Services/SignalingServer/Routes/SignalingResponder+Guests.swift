import CallControl
import CallRuntime
import GatewayAPI
import Registration

/// What is particular to guests, callers without an account (spidr-wire §7).
extension SignalingResponder {
    /// The call that a guest begins, with addresses in place of tokens.
    func guestCall(_ exchange: RequestExchange, of visitor: Principal.Visitor) async throws(APIError) -> WantedCall {
        let request = try exchange.decode(CallMeRequest.self)
        var body = request.call
        var nameOfToken: String?
        if guests.readsTokens {
            if let to = body.to { body.to = try await address(to, visitor).text }
            if let from = body.from { nameOfToken = try await address(from, visitor).text }
        }
        let (creation, warnings) = (try body.creation(defaultDomain: defaultDomain), try body.ignoredValues())
        guard case .start(var start) = creation else {
            throw APIError(CallError.notForGuests(.bringingOthers))
        }
        guard let channel = request.notifyChannelId, !channel.isEmpty else {
            throw APIError(
                .requestMissingField,
                "The field \"\(body.envelope).notifyChannelId\" is missing; it names the guest's channel.")
        }
        // The address in a token is confirmed by its realm. A name is the guest's own choice, and must not look like
        // that of an account.
        start.callerName = nameOfToken ?? start.callerName.map { "Guest: \($0)" }
        let noSuchSubscription = APIError(RegistrationError.noSuchSubscription)
        let guest = try await owner(of: channel, exchange, otherwise: noSuchSubscription)
        return WantedCall(request: .start(start), warnings: warnings, user: guest, channel: ChannelID(channel))
    }

    /// The address that a token in a body stands for.
    private func address(_ token: String, _ visitor: Principal.Visitor) async throws(APIError) -> UserAddress {
        try await guests.address(token, realm: visitor.realm, from: visitor.address)
    }
}
