import CallControl
import Foundation
import GatewayAPI
import HTTPTypes
import HummingbirdCore
import NIOCore

/// A request on a resource of a user, read and authenticated.
struct UserExchange: Sendable {
    let route: Route
    let method: HTTPRequest.Method
    let user: UserAddress
    /// The user's device, if the request names it (spidr-wire §1.2).
    let device: SubscriptionID?
    /// Of the query.
    let reasonText: String?
    private let uri: URI
    private let body: ByteBuffer
    private static let deviceHeader = "x-session"

    /// Credentials come first, so that nobody learns anything without them; then the user in the path, who must
    /// be the one who asks (spidr-wire §1.1).
    init(
        _ request: Request, _ route: Route, authenticatedBy authenticator: Authenticator, from requester: Requester,
        limits: BodyLimits
    ) async throws(Refusal) {
        let wrapper = route.endpoint.errorWrapper
        do throws(APIError) {
            user = try await authenticator.authenticate(request.headers[.authorization], from: requester)
            // Nearly always it is written just so.
            guard
                route.user == user.text
                    || UserAddress(parsing: route.user, defaultDomain: authenticator.defaultDomain) == user
            else {
                authenticator.countWrongUser()
                throw APIError(.authWrongUser, "The credentials belong to another user than the path.")
            }
        } catch {
            throw Refusal(error, in: wrapper)
        }
        self.route = route
        method = request.method
        device = request.headers.first { $0.name.canonicalName == Self.deviceHeader }.map { SubscriptionID($0.value) }
        reasonText = request.uri.query == nil ? nil : request.uri.queryParameters["reasonText"].map(String.init)
        uri = request.uri
        switch request.method {
        case .post, .put:
            do throws(BodyError) {
                body = try await request.collectBody(limits)
            } catch {
                throw error.refusal(limit: limits.accepted, in: wrapper)
            }
        default:
            // Some clients send a body with DELETE; nobody needs it (spidr-wire §6.7).
            body = ByteBuffer()
        }
    }

    /// A whole number of the query, 0 or more; `nil` if it is not there.
    func number(_ name: String) throws(APIError) -> Int? {
        guard let text = uri.queryParameters[name[...]] else { return nil }
        guard text.utf8.count <= 9, let number = Int(text), number >= 0 else {
            throw APIError(.requestInvalidValue, "\"\(name)\" must be a whole number, 0 or more.")
        }
        return number
    }

    func decode<Content: WireObject>(_ type: Content.Type) throws(APIError) -> Content {
        try WireJSON.decode(type, from: Data(body.readableBytesView))
    }
}
