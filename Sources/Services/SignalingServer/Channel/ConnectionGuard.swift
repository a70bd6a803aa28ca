import GatewayAPI
import NIOCore
import NIOHTTP1
import Observability

/// How long the parts of an HTTP exchange may take.
struct ConnectionTimeouts: Sendable {
    /// From the connection to the end of its first request head, TLS handshake included.
    var firstRequest: TimeAmount
    /// From a request's head to the end of its body.
    var request: TimeAmount
    /// From a refusal that ends the connection to its end.
    var linger: LingeringClose.Limits
}

/// Follows the HTTP decoder: ends connections that ask nothing, are too slow or send garbage, and answers garbage in
/// JSON.
final class ConnectionGuard: ChannelDuplexHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias InboundOut = HTTPServerRequestPart
    typealias OutboundIn = HTTPServerResponsePart
    typealias OutboundOut = HTTPServerResponsePart

    private let timeouts: ConnectionTimeouts
    private let place: ConnectionPlace
    private let metrics: GatewayMetrics
    /// Is told of each answer, so that it lets the next requests through.
    weak var throttle: RequestThrottle?
    private var deadline: Scheduled<Void>?
    private var seenRequest = false
    private(set) var isReadingRequest = false
    /// The request target of the request that is being read.
    private var target = ""
    private(set) var requestsOwed = 0
    private var answerStarted = false
    private var hasRefused = false
    /// `false` once the peer has closed its direction: from then on nothing shows that a client still waits for an
    /// answer.
    private(set) var peerIsPresent = true

    init(timeouts: ConnectionTimeouts, place: ConnectionPlace, metrics: GatewayMetrics) {
        self.timeouts = timeouts
        self.place = place
        self.metrics = metrics
    }

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
            isReadingRequest = true
            requestsOwed += 1
            place.awaitRequest()
            deadline?.cancel()
            deadline = nil
        case .body:
            break
        case .end:
            isReadingRequest = false
            deadline?.cancel()
            deadline = nil
            // A refusal may have been written before the body was complete.
            if requestsOwed > 0 { place.workOnRequest() } else { place.awaitRequest() }
        }
        context.fireChannelRead(data)
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // Most requests arrive whole and need no timer.
        if isReadingRequest, deadline == nil { arm(timeouts.request, context) }
        context.fireChannelReadComplete()
    }

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        switch Self.unwrapOutboundIn(data) {
        case .head(let head):
            answerStarted = !head.status.isInformational
            context.write(data, promise: promise)
        case .body:
            context.write(data, promise: promise)
        case .end:
            answerStarted = false
            requestsOwed -= 1
            if requestsOwed == 0, !isReadingRequest { place.awaitRequest() }
            context.write(data, promise: promise)
            throttle?.requestAnswered()
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // What follows a refused head cannot be read either.
        guard !hasRefused else { return }
        switch error {
        case HTTPParserError.headerOverflow:
            give(APIError(.requestHeadersTooLarge, "The request's headers are too large."), .malformed, context)
        case HTTPParserError.invalidEOFState, HTTPParserError.closedConnection:
            context.close(promise: nil)
        case let refused as RequestHeadFilter.RefusedHead:
            give(refused.reason, .malformed, context)
        case is HTTPParserError:
            give(APIError(.requestMalformed, "This is not a well-formed HTTP/1.1 request."), .malformed, context)
        default:
            context.fireErrorCaught(error)
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        if case .inputClosed? = event as? ChannelEvent { peerIsPresent = false }
        // Later handlers finish what is under way. Before the first request no other handler listens.
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
            if self.isReadingRequest {
                self.give(APIError(.requestTimedOut, "The request took too long to arrive."), .slowRequest, context)
            } else {
                self.metrics.connectionsClosed[.silent].increment()
                context.close(promise: nil)
            }
        }
    }

    /// Answers with the error, if no other answer is in the way, and ends the connection.
    private func give(_ error: APIError, _ reason: ConnectionClosure, _ context: ChannelHandlerContext) {
        metrics.connectionsClosed[reason].increment()
        hasRefused = true
        deadline?.cancel()
        let othersOwed = requestsOwed - (isReadingRequest ? 1 : 0)
        guard othersOwed == 0, !answerStarted, let throttle else { return context.close(promise: nil) }
        // If the path leads nowhere, the client is taken for one of the client protocol.
        let endpoint = isReadingRequest ? (try? Route(parsing: String(target.prefix { $0 != "?" })))?.endpoint : nil
        // The responder counts a request that has started.
        RefusalWriter.write(
            Refusal(error, in: endpoint?.errorForm ?? .wrapped(.none), closesConnection: true), to: context,
            counting: isReadingRequest ? nil : metrics)
        place.awaitRequest()
        do {
            try LingeringClose.start(before: throttle, timeouts.linger, context)
        } catch {
            context.close(promise: nil)
        }
    }
}

extension HTTPResponseStatus {
    fileprivate var isInformational: Bool { (100..<200).contains(code) }
}
