import GatewayAPI
import NIOCore
import NIOHTTP1

/// How long the parts of an HTTP exchange may take.
struct ConnectionTimeouts: Sendable {
    /// From the connection to the end of its first request head, TLS handshake included.
    var firstRequest: TimeAmount
    /// From a request's head to the end of its body.
    var request: TimeAmount
}

/// Stands between the HTTP decoder and everything else: ends connections that ask nothing, dawdle or send garbage,
/// and answers the garbage in JSON.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let timeouts: ConnectionTimeouts
    private var deadline: Scheduled<Void>?
    private var seenRequest = false
    private var readingRequest = false
    /// The target of the request that is being read.
    private var target = ""
    private var answersOwed = 0
    private var answerBegun = false
    /// `false` once the peer has closed its side: nobody is known to have waited for an answer after that.
    private(set) var peerIsPresent = true

    init(timeouts: ConnectionTimeouts) { self.timeouts = timeouts }

    func handlerAdded(context: ChannelHandlerContext) {
        arm(timeouts.firstRequest, context)
    }

    func handlerRemoved(context: ChannelHandlerContext) {
        deadline?.cancel()
    }

    func channelInactive(context: ChannelHandlerContext) {
        peerIsPresent = false
        deadline?.cancel()
        context.fireChannelInactive()
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head(let head):
            seenRequest = true
            target = head.uri
            readingRequest = true
            answersOwed += 1
            deadline?.cancel()
            deadline = nil
        case .body:
            break
        case .end:
            readingRequest = false
            deadline?.cancel()
            deadline = nil
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most requests arrive whole and need no timer.
        if readingRequest, deadline == nil { arm(timeouts.request, context) }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(let head): answerBegun = !head.status.isInformational
        case .body: break
        case .end:
            answerBegun = false
            answersOwed -= 1
        }
        context.write(data, promise: promise)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case HTTPParserError.headerOverflow:
            give(APIError(.requestHeadersTooLarge, "The request's headers are too large."), context)
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection:
            context.close(promise: nil)
        case let refused as RequestHeadFilter.RefusedHead:
            give(refused.reason, context)
        case is HTTPParserError:
            give(APIError(.requestMalformed, "This is not a well-formed HTTP/1.1 request."), context)
        default:
            context.fireErrorCaught(error)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { peerIsPresent = false }
        // Later handlers finish what is under way; before the first request nobody else listens.
        if event is ChannelShouldQuiesceEvent, !seenRequest {
            context.close(promise: nil)
        } else {
            context.fireUserInboundEventTriggered(event)
        }
    }

    private func arm(_ time: TimeAmount, _ context: ChannelHandlerContext) {
        deadline?.cancel()
        deadline = context.eventLoop.assumeIsolated().scheduleTask(in: time) { [weak self] in
            guard let self else { return }
            if self.readingRequest {
                self.give(APIError(.requestTimedOut, "The request took too long to arrive."), context)
            } else {
                context.close(promise: nil)
            }
        }
    }

    /// Says why, if no other answer is in the way, and ends the connection.
    private func give(_ error: APIError, _ context: ChannelHandlerContext) {
        let othersOwed = answersOwed - (readingRequest ? 1 : 0)
        if othersOwed == 0, !answerBegun {
            // A path that leads nowhere has no wrapper.
            let endpoint = readingRequest ? (try? Route(parsing: String(target.prefix { $0 != "?" })))?.endpoint : nil
            RefusalWriter.write(Refusal(error, in: endpoint?.errorWrapper ?? .none, closesConnection: true), to: context)
        }
        context.close(promise: nil)
    }
}

extension HTTPResponseStatus {
    fileprivate var isInformational: Bool { (100..<200).contains(code) }
}
