import CallControl
import Foundation
import GatewayAPI
import HTTPTypes
import HummingbirdCore
import NIOCore
import Primitives

/// A request on a resource of a guest, read, and from somebody who may come.
struct GuestExchange: Sendable {
    let route: Route
    let method: HTTPRequest.Method
    /// Whom the guest came to call, or says so.
    let account: UserAddress
    /// Of the query.
    let reasonText: String?
    private let realm: String?
    private let source: IPAddress?
    private let guests: GuestDesk
    private let body: ByteBuffer

    init(
        _ request: Request, _ route: Route, admittedBy guests: GuestDesk, from source: IPAddress?, limits: BodyLimits
    ) async throws(Refusal) {
        let query = request.uri.query == nil ? nil : request.uri.queryParameters
        realm = query?["tokenrealm"].map(String.init)
        reasonText = query?["reasonText"].map(String.init)
        do throws(APIError) {
            account = try await guests.account(
                route.user, realm: realm, isBeginning: request.method == .post,
                isCharged: request.method == .post || request.method == .put && route.endpoint == .guestSubscription,
                from: source)
        } catch {
            throw Refusal(error, in: route.endpoint.errorWrapper(of: error))
        }
        self.route = route
        method = request.method
        self.source = source
        self.guests = guests
        switch request.method {
        case .post, .put:
            do throws(BodyError) {
                body = try await request.collectBody(limits)
            } catch {
                throw error.refusal(limit: limits.accepted, in: route.endpoint.errorWrapper)
            }
        default:
            body = ByteBuffer()
        }
    }

    /// Where the guest comes from.
    var network: SourceNetwork? { source.map(SourceNetwork.init) }

    /// What the paths of the guest's resources begin with. Whoever came with a token is not told the account.
    var path: ResourcePath { ResourcePath(ofGuestCalling: guests.readsTokens ? route.user : account.text) }

    func decode<Content: WireObject>(_ type: Content.Type) throws(APIError) -> Content {
        try WireJSON.decode(type, from: Data(body.readableBytesView))
    }

    /// A request that may begin a call, with addresses in place of tokens.
    func decodeCall() async throws(APIError) -> (
        call: CallControlRequest, notifyChannelId: String?, callerName: String?
    ) {
        let request = try decode(CallMeRequest.self)
        var call = request.call
        var callerName: String?
        if guests.readsTokens {
            if let to = call.to { call.to = try await guests.address(to, realm: realm, from: source).text }
            if let from = call.from { callerName = try await guests.address(from, realm: realm, from: source).text }
        }
        return (call, request.notifyChannelId, callerName)
    }
}
