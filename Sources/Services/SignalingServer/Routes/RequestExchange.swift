import CallControl
import Foundation
import GatewayAPI
import HTTPTypes
import HummingbirdCore
import NIOCore
import Primitives
import SPiDR

/// A request on the client interface, with its body, and who makes it. No other code reads the body of a request.
///
/// The kind of caller is in the type, so that no route of users and guests can be given an application, nor the other
/// way round (docs/adr/0012).
struct Exchange<Caller: Sendable>: Sendable {
    let method: HTTPRequest.Method
    let principal: Caller
    /// The network that the request comes from; `nil`: unknown.
    let network: SourceNetwork?
    /// The `{id}` segment of the path; empty if there is none.
    let id: String
    private let uri: URI
    private let body: ByteBuffer

    /// Reads the body of a request, and then admits the request by it.
    ///
    /// - Parameter admit: who makes the request, by its body.
    /// - Throws: a refusal if the body is too large, broken, or announced as another type than JSON, or if the request
    ///   is not admitted.
    init(
        _ request: Request, _ route: Route, from requester: Requester, limits: BodyLimits,
        admit: (ByteBuffer) async throws(APIError) -> Caller
    ) async throws(Refusal) {
        network = requester.address.map(SourceNetwork.init)
        method = request.method
        id = route.id
        uri = request.uri
        switch request.method {
        case .post, .put:
            do throws(BodyError) {
                body = try await request.collectBody(limits)
            } catch {
                throw error.refusal(limit: limits.accepted, in: route.endpoint.errorForm)
            }
        default:
            // Some clients send a body with DELETE; it is not read (spidr-wire §1.3).
            body = ByteBuffer()
        }
        do throws(APIError) {
            principal = try await admit(body)
        } catch {
            throw Refusal(error, in: route.endpoint.errorForm(of: error))
        }
    }

    /// The text of a name in the query; `nil` if it is not there.
    func query(_ name: String) -> String? { uri.queryParameters[name[...]].map(String.init) }

    /// A whole number in the query, 0 to 999,999,999; `nil` if it is not there.
    ///
    /// - Throws: `request.invalid_value` for another value.
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

    /// The body with or without a wrapper.
    func decodeBare<Content: WireObject>(_ type: Content.Type) throws(APIError) -> Content {
        try WireJSON.decodeBare(type, from: Data(body.readableBytesView))
    }
}

/// A request on a resource of the client protocol, from a user or guest who has been admitted.
typealias RequestExchange = Exchange<Principal>

extension Exchange<Principal> {
    /// The device that made the request; `nil` if it does not name itself.
    var device: SubscriptionID? {
        switch principal {
        case .user(_, let device, _): device
        case .guest: nil
        }
    }

    /// The user with an account who makes the request, on a resource that guests have no path to.
    var account: UserAddress {
        guard case .user(let user, _, _) = principal else { preconditionFailure("guests have no such path") }
        return user
    }

    /// The common prefix of the paths of the principal's resources.
    var path: ResourcePath {
        switch principal {
        case .user(let user, _, _): ResourcePath(of: user)
        case .guest(let visitor): visitor.path
        }
    }

    /// The query `reasonText`; `nil` if there is none (spidr-wire §6.7).
    var reasonText: String? { uri.query == nil ? nil : uri.queryParameters["reasonText"].map(String.init) }

    // MARK: - Bodies

    /// The call operation in the body, which guests write under another top-level key (spidr-wire §7).
    func decodeCallControl() throws(APIError) -> CallControlRequest {
        switch principal {
        case .user: try decode(CallControlRequest.self)
        case .guest: try decode(CallMeRequest.self).call
        }
    }

    /// The answer to a request about a call, under the top-level key that the principal expects.
    func answer(_ status: HTTPResponse.Status, _ response: CallControlResponse = CallControlResponse()) -> Answer {
        switch principal {
        case .user: .json(status, WireJSON.encode(wrapping: response))
        case .guest: .json(status, WireJSON.encode(wrapping: CallMeResponse(response)))
        }
    }
}
