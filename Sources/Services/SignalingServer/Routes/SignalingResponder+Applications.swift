import Foundation
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
        let body: ByteBuffer
        do throws(BodyError) {
            body = try await request.collectBody(limits)
        } catch {
            throw error.refusal(limit: limits.accepted, in: route.endpoint.errorForm)
        }
        do throws(APIError) {
            guard let applications else { throw .unavailable }
            let application = try await applications.verify(
                request.headers[.hmac], of: Array(body.readableBytesView), by: route.id, from: requester.address)
            let wanted = try WireJSON.decode(AuthenticationTokenRequest.self, from: Data(body.readableBytesView))
            let token = try await applications.issueToken(for: wanted, to: application)
            return .json(.created, WireJSON.encode(wrapping: AuthenticationTokenResponse(token: token)))
        } catch {
            throw Refusal(error, in: route.endpoint.errorForm)
        }
    }
}
