import GatewayAPI
import NIOCore
import NIOHTTP1

/// Lets only complete requests for a WebSocket reach the upgrade handler.
///
/// An `Upgrade` header that the gateway cannot follow is removed, and the request is answered like any other (RFC 9110
/// §7.8). The upgrade handler would lose it.
final class UpgradeFilter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Says whether there are WebSockets at a path that is none of a notification channel.
    private let servesSockets: (String) -> Bool

    /// - Parameter servesSockets: whether there are WebSockets at a path that is none of a notification channel.
    init(servesSockets: @escaping (String) -> Bool = { _ in false }) { self.servesSockets = servesSockets }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(var head) = Self.unwrapInboundIn(data), head.headers.contains(name: "upgrade"),
            head.channelRoute == nil, !(head.isOpeningHandshake && servesSockets(head.path))
        else {
            return context.fireChannelRead(data)
        }
        head.headers.remove(name: "upgrade")
        context.fireChannelRead(Self.wrapInboundOut(.head(head)))
    }
}

extension HTTPRequestHead {
    /// The channel that this request wants to open; `nil` unless it is a complete opening handshake (RFC 6455 §4.2.1).
    var channelRoute: Route? {
        guard isOpeningHandshake else { return nil }
        // The responder answers a path that leads nowhere.
        guard let route = try? Route(parsing: path) else { return nil }
        guard case .channel = route.endpoint.target else { return nil }
        return route
    }

    /// The path without the query.
    var path: String { String(uri.prefix { $0 != "?" }) }

    /// Whether this is a complete request to open a WebSocket (RFC 6455 §4.2.1).
    var isOpeningHandshake: Bool {
        method == .GET && version == .http1_1
            && headers[canonicalForm: "upgrade"].contains { $0.lowercased() == "websocket" }
            && headers[canonicalForm: "connection"].contains { $0.lowercased() == "upgrade" }
            && headers["sec-websocket-version"] == ["13"] && headers["sec-websocket-key"].count == 1
            && !headers.contains(name: "transfer-encoding")
            && headers["content-length"].allSatisfy { $0 == "0" }
    }
}
