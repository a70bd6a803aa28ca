import GatewayAPI
import HTTPTypes
import HummingbirdCore
import NIOCore

/// Tokens for application servers (spidr-wire §2).
extension SignalingResponder {
    /// Gives an application server a token that logs one of its users in. The signature of the body is the credential,
    /// so it is checked before the body is read as JSON.
    func issueToken(
        _ request: Request, _ route: Route, from requester: Requester
    ) async throws(Refusal) -> Answer {
        guard let applications else { throw Refusal(.unavailable, in: route.endpoint.errorForm) }
        let exchange = try await Exchange(request, route, from: requester, limits: limits) {
            body async throws(APIError) in
            try await applications.verify(
                request.headers[.hmac], of: Array(body.readableBytesView), by: route.id, from: requester.address)
        }
        do throws(APIError) {
            let token = try await applications.issueToken(
                for: exchange.decode(AuthenticationTokenRequest.self), to: exchange.principal)
            return .json(.created, WireJSON.encode(wrapping: AuthenticationTokenResponse(token: token)))
        } catch {
            throw Refusal(error, in: route.endpoint.errorForm)
        }
    }
}
