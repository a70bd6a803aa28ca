import Foundation
import GatewayAPI
import NIOCore
import NIOHTTP1

/// Follows the HTTP decoder: refuses heads that can be read, but do not say which host the request is for or where it
/// ends. It also brings a head that can be written in several ways into one form. What follows a refused head is
/// ignored.
final class RequestHeadFilter: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart

    /// Reaches the ``ConnectionGuard`` as an error, like what the decoder refuses.
    struct RefusedHead: Error {
        var reason: APIError
    }

    private var hasRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRefused else { return }
        guard case .head(var head) = Self.unwrapInboundIn(data) else { return context.fireChannelRead(data) }
        do throws(APIError) {
            try head.checkFraming()
            try head.checkWebSocketKey()
        } catch {
            hasRefused = true
            return context.fireErrorCaught(RefusedHead(reason: error))
        }
        if head.isLast { head.headers.replaceOrAdd(name: "connection", value: "close") }
        context.fireChannelRead(Self.wrapInboundOut(.head(head)))
    }
}

extension HTTPRequestHead {
    /// Refuses what the decoder lets through and a server must not: RFC 9112 §3.2 (Host), §6.1 (Transfer-Encoding).
    fileprivate func checkFraming() throws(APIError) {
        // Two Host headers are as bad as none: one proxy would believe the first, another one the second.
        guard headers.count(of: "host") == 1 || (version == .http1_0 && headers.count(of: "host") == 0) else {
            throw APIError(.requestMalformed, "The request must have one Host header.")
        }
        let codings = headers["transfer-encoding"]
        guard !codings.isEmpty else { return }
        // A proxy that knows only HTTP/1.0 would find the end of the request elsewhere.
        guard version != .http1_0 else { throw APIError(.requestMalformed, "HTTP/1.0 knows no Transfer-Encoding.") }
        guard codings.count == 1, codings[0].lowercased() == "chunked" else {
            throw APIError(.requestUnsupportedTransferCoding, "The only Transfer-Encoding that can be read is chunked.")
        }
    }

    /// Checks the nonce of an opening handshake: 16 bytes in base64 (RFC 6455 §4.2.1).
    fileprivate func checkWebSocketKey() throws(APIError) {
        guard headers.contains(name: "sec-websocket-key"), channelRoute != nil else { return }
        let key = headers["sec-websocket-key"].first ?? ""
        guard key.utf8.count == 24, Data(base64Encoded: key)?.count == 16 else {
            throw APIError(.requestMalformed, "Sec-WebSocket-Key must be 16 bytes in base64.")
        }
    }

    /// Whether no other request follows on this connection (RFC 9112 §9.3).
    fileprivate var isLast: Bool {
        let options = headers[canonicalForm: "connection"]
        if options.contains(where: { $0.lowercased() == "close" }) { return true }
        return version == .http1_0 && !options.contains { $0.lowercased() == "keep-alive" }
    }
}

extension HTTPHeaders {
    fileprivate func count(of name: String) -> Int {
        reduce(0) { $0 + ($1.name.utf8.count == name.utf8.count && $1.name.lowercased() == name ? 1 : 0) }
    }
}
