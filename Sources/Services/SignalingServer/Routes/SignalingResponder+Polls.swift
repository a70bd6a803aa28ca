import CallRuntime
import GatewayAPI
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Long polls (spidr-wire §4.5).
extension SignalingResponder {
    /// Answers a request with the next notification of a channel. The unguessable identifier is the credential, as on a
    /// WebSocket (spidr-wire §4). `HEAD` fetches nothing.
    ///
    /// A token is not needed, but one that is there must be the user's own.
    func poll(
        _ request: Request, _ route: Route, _ audience: Endpoint.Audience, from requester: Requester
    ) async throws(APIError) -> Answer {
        guard !draining.isSet else { throw .channelDraining }
        let latest = request.uri.queryParameters["since"].flatMap { UInt64($0) }
        guard let address = ChannelAddress(route, of: audience, latest: latest, defaultDomain: defaultDomain) else {
            throw .channelGone
        }
        if let tokens, audience == .users, let token = request.uri.queryParameters["access_token"] {
            try await tokens.check(String(token), isOf: address.user, from: requester.address)
        }
        if request.method == .head {
            guard await registrar.channelExists(address.user, address.channel) else { throw .channelGone }
            return Answer(.ok, contentType: "application/json", body: ByteBuffer())
        }
        switch await polls.ask(address, on: requester.connection) {
        case .notification(let text): return Answer(.ok, contentType: "application/json", body: text)
        // 200 all the same, but an empty body is no JSON.
        case .nothing: return .text(.ok, "")
        case .gone: throw .channelGone
        }
    }
}

extension APIError {
    /// The answer to who opens a channel while the gateway is stopping.
    static var channelDraining: APIError {
        APIError(
            .serviceDraining, "The gateway is stopping; open the channel again in a moment.",
            retryAfter: APIError.backOff)
    }

    fileprivate static var channelGone: APIError {
        APIError(.channelGone, "This channel does not exist; its subscription may have ended.")
    }
}
