import CallControl
import CallRuntime
import EventLoops
import GatewayAPI
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import NIOHTTPTypesHTTP1
import NIOWebSocket
import Observability
import Primitives
import Sockets

/// Sets up an accepted connection, which carries either HTTP requests or one notification channel.
///
///     monitor → PROXY? → TLS? → throttle → HTTP decoder → head filter → guard → upgrade filter → upgrade handler
///                                                                         ├─▶ HTTP types → state → requests
///                                                                         └─▶ lengths → WebSocket frames → channel
struct SignalingChannel: ServerChildChannel, HTTPChannelHandler {
    struct Value: ServerChildChannelValue {
        let channel: any Channel
        let negotiation: EventLoopFuture<Negotiated>
    }

    enum Negotiated: Sendable {
        case http(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
        case webSocket(ClientSocket, ChannelAddress)
        case messages(MessageSocket)
        case stream(StreamSocket)
    }

    struct Configuration: Sendable {
        var timeouts: ConnectionTimeouts
        /// How long a connection is kept without a request.
        var keepAlive: Duration
        var headerLimit: Int
        /// How much a client may send before it is answered.
        var ahead: RequestThrottle.Limits
        var channel: ChannelConfiguration
        var defaultDomain: String
        /// How channels are compressed whose clients offer it; `nil`: not at all.
        var compression: DeflateAgreement.Mode?
    }

    let responder: HTTPChannelHandler.Responder
    let configuration: Configuration
    let registrar: any Registrar
    /// Checks the token that a channel may be opened with; `nil`: it is not looked at.
    let tokens: TokenAuthenticator?
    let trustedProxies: TrustedProxies
    /// Whether trusted proxies tell their clients in PROXY headers.
    let readsProxyHeaders: Bool
    let sockets: SocketDirectory
    let metrics: GatewayMetrics
    let draining: DrainingFlag
    let compressors: CompressorsOfLoops
    /// Sends events to those who follow them on other WebSockets; `nil`: nobody can.
    let broadcasts: EventBroadcasts?
    /// What serves other WebSockets, and checks who opens them; `nil`: there are none.
    let v1: V1Gate?

    func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            let encoder = HTTPResponseEncoder()
            let decoder = ByteToMessageHandler(
                HTTPRequestDecoder(leftOverBytesStrategy: .forwardBytes, limitConfiguration: decoderLimits))
            let headFilter = RequestHeadFilter()
            let monitor = try pipeline.handler(type: ConnectionMonitor.self)
            let connectionGuard = ConnectionGuard(
                timeouts: configuration.timeouts, place: monitor.place, metrics: metrics)
            let throttle = RequestThrottle(before: connectionGuard, limits: configuration.ahead, metrics: metrics)
            connectionGuard.throttle = throttle
            let filter = UpgradeFilter { [sockets = v1?.sockets] in sockets?.servesSockets(at: $0) ?? false }
            let upgrade = NIOTypedHTTPServerUpgradeHandler(
                httpEncoder: encoder,
                extraHTTPHandlers: [decoder, headFilter, connectionGuard, filter, throttle],
                upgradeConfiguration: NIOTypedHTTPServerUpgradeConfiguration(
                    upgraders: [upgrader(Lock(nil))], notUpgradingCompletionHandler: { setUpHTTP($0, logger) })
            )
            try pipeline.addHandlers([encoder, throttle, decoder, headFilter, connectionGuard, filter, upgrade])
            return Value(channel: channel, negotiation: upgrade.upgradeResultFuture)
        }
    }

    func handle(value: Value, logger: Logger) async {
        // Everything up to the answer happens on the connection's event loop. Otherwise a request would change threads
        // half a dozen times.
        await withTaskExecutorPreference(EventLoopExecutor(value.channel.eventLoop)) { await serve(value, logger) }
    }

    private func serve(_ value: Value, _ logger: Logger) async {
        let negotiated: Negotiated
        do {
            negotiated = try await value.negotiation.get()
        } catch {
            // The peer left, or was refused, before it asked anything.
            value.channel.close(promise: nil)
            return
        }
        switch negotiated {
        case .http(let connection): await handleHTTP(asyncChannel: connection, logger: logger)
        case .webSocket(let socket, let address): await open(socket, address)
        case .messages(let socket): await socket.serve(draining)
        case .stream(let socket): socket.start()
        }
    }

    private var decoderLimits: NIOHTTPDecoderLimitConfiguration {
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = configuration.headerLimit
        limits.maxHeaderListSize = configuration.headerLimit
        limits.maxHeaderFieldCount = 100
        return limits
    }

    // MARK: - HTTP

    @Sendable
    private func setUpHTTP(_ channel: any Channel, _ logger: Logger) -> EventLoopFuture<Negotiated> {
        channel.eventLoop.makeCompletedFuture {
            let pipeline = channel.pipeline.syncOperations
            try pipeline.addHandler(HTTP1ToHTTPServerCodec(secure: false))
            try pipeline.addHandler(HTTPConnectionStateHandler(idleTimeout: configuration.keepAlive, logger: logger))
            let connection = try NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>(
                wrappingChannelSynchronously: channel, configuration: .init(isOutboundHalfClosureEnabled: true))
            return .http(connection)
        }
    }

    // MARK: - WebSocket (spidr-wire §4)

    /// - Parameter opened: what a socket carries that is no notification channel, once it may be opened.
    private func upgrader(_ opened: Lock<V1Socket?>) -> NIOTypedWebSocketServerUpgrader<Negotiated> {
        NIOTypedWebSocketServerUpgrader(
            // The guard before the decoder has the limit of its kind of socket.
            maxFrameSize: max(configuration.channel.messageLimit, StreamSocket.messageLimit),
            enableAutomaticErrorHandling: false,
            shouldUpgrade: { channel, head in
                let client = trustedProxies.client(
                    of: channel.sourceAddress, announcing: readsProxyHeaders ? channel.announcedSourceOnLoop : nil,
                    head.forwardingFields)
                if let v1, V1Gate.serves(head.path) {
                    let requester = Requester(client, on: channel.remoteAddress)
                    return channel.eventLoop.makeFutureWithTask {
                        await v1.open(head, from: requester, draining, into: opened)
                    }.flatMap { answer in
                        answer.map { refuse(channel, $0) }
                            ?? channel.eventLoop.makeSucceededFuture(acceptance(of: opened, on: channel))
                    }
                }
                return channel.eventLoop.makeFutureWithTask { await refusal(of: head, from: client) }.flatMap { error in
                    error.map { refuse(channel, $0) } ?? channel.eventLoop.makeSucceededFuture(acceptance(of: head))
                }
            },
            upgradePipelineHandler: { channel, head in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    let decoder = try pipeline.handler(type: ByteToMessageHandler<WebSocketFrameDecoder>.self)
                    let carried = opened.withLock { $0 }
                    let limit =
                        carried?.isStream == true ? StreamSocket.messageLimit : configuration.channel.messageLimit
                    try pipeline.addHandler(FrameLengthGuard(limit: limit), position: .before(decoder))
                    let monitor = try pipeline.handler(type: ConnectionMonitor.self)
                    monitor.becomeChannel()
                    switch carried {
                    case nil: break
                    case .stream(let stream):
                        return .stream(try addStream(stream, to: pipeline, of: channel, monitor))
                    case .messages(let messages):
                        guard let broadcasts else {
                            preconditionFailure("what sends events on WebSockets comes with their log")
                        }
                        let handler = WebSocketHandler(
                            configuration: configuration.channel, monitor: monitor, metrics: metrics,
                            draining: draining, confirmed: { _ in })
                        try pipeline.addHandler(handler)
                        return .messages(
                            MessageSocket(
                                channel: channel, handler: handler,
                                broadcast: broadcasts.broadcast(on: channel.eventLoop), messages: messages))
                    }
                    guard let address = address(head) else {
                        preconditionFailure("only a request that names a channel is upgraded")
                    }
                    let handler = WebSocketHandler(
                        configuration: configuration.channel, monitor: monitor, metrics: metrics, draining: draining,
                        compression: agreement(with: head).map {
                            MessageCompression($0, compressors.compressors(of: channel.eventLoop))
                        }
                    ) { registrar.channelConfirmed(address.user, address.channel, through: $0) }
                    try pipeline.addHandler(handler)
                    return .webSocket(ClientSocket(id: sockets.makeID(), channel: channel, handler: handler), address)
                }
            }
        )
    }

    private func agreement(with head: HTTPRequestHead) -> DeflateAgreement? {
        configuration.compression.flatMap { DeflateAgreement(to: head.headers["sec-websocket-extensions"], $0) }
    }

    /// The headers of the answer, beside those that every upgrade has.
    private func acceptance(of head: HTTPRequestHead) -> HTTPHeaders {
        agreement(with: head).map { ["Sec-WebSocket-Extensions": $0.answer] } ?? HTTPHeaders()
    }

    /// The same for a socket below `/v1/`. Whatever becomes of the connection, its stream learns its end.
    private func acceptance(of opened: Lock<V1Socket?>, on channel: any Channel) -> HTTPHeaders {
        guard case .stream(let stream) = opened.withLock({ $0 }) else { return HTTPHeaders() }
        channel.closeFuture.whenComplete { _ in stream.disconnected() }
        return stream.subprotocol.map { ["Sec-WebSocket-Protocol": $0] } ?? HTTPHeaders()
    }

    private func address(_ head: HTTPRequestHead) -> ChannelAddress? {
        guard let route = head.channelRoute, case .channel(let audience) = route.endpoint.target else { return nil }
        return ChannelAddress(
            route, of: audience, latest: head.latestEventID, defaultDomain: configuration.defaultDomain)
    }

    /// Why the request may not open a channel; `nil`: it may. The unguessable identifier is the credential (spidr-wire
    /// §4). A token is not needed, but one that is there must be the user's own.
    private func refusal(of head: HTTPRequestHead, from client: IPAddress?) async -> APIError? {
        if draining.isSet { return .channelDraining }
        guard let address = address(head) else { return .noSuchChannel }
        if let tokens, let token = head.accessToken, head.channelRoute?.endpoint.target == .channel(of: .users) {
            do throws(APIError) {
                try await tokens.check(token, isOf: address.user, from: client)
            } catch {
                return error
            }
        }
        guard await registrar.channelExists(address.user, address.channel) else {
            return draining.isSet ? .channelDraining : .noSuchChannel
        }
        return nil
    }

    /// Answers the request and closes the connection. No other handler would, since the upgrade handler keeps the
    /// request to itself.
    private func refuse(_ channel: any Channel, _ error: APIError) -> EventLoopFuture<HTTPHeaders?> {
        RefusalWriter.write(
            Refusal(error, in: .wrapped(.none), closesConnection: true), to: channel, counting: metrics
        )
        .flatMapError { _ in channel.eventLoop.makeSucceededVoidFuture() }
        .flatMap { channel.close() }
        .map { HTTPHeaders?.none }
    }

    private func refuse(_ channel: any Channel, _ refusal: V1Answer) -> EventLoopFuture<HTTPHeaders?> {
        var answer = Answer(refusal, isHead: false)
        answer.headers[.connection] = "close"
        return RefusalWriter.write(answer, to: channel, counting: metrics)
            .flatMapError { _ in channel.eventLoop.makeSucceededVoidFuture() }
            .flatMap { channel.close() }
            .map { HTTPHeaders?.none }
    }

    /// Says that a channel is open. No task waits for its end, since most channels are quiet for hours: each task would
    /// keep 4 KB.
    private func open(_ socket: ClientSocket, _ address: ChannelAddress) async {
        let (user, channel) = (address.user, address.channel)
        sockets.insert(socket)
        if await !registrar.channelOpened(user, channel, on: socket.id, since: address.latest) {
            // The subscription ended between the look-up and the upgrade.
            socket.close(.normal)
        }
        let loop = socket.channel.eventLoop
        socket.channel.closeFuture.whenComplete { [sockets, registrar, id = socket.id] _ in
            sockets.remove(id)
            Task(executorPreference: EventLoopExecutor(loop)) {
                await registrar.channelClosed(user, channel, on: id)
                sockets.hasEnded()
            }
        }
    }
}

/// A channel that a client opens.
struct ChannelAddress: Sendable {
    let user: UserAddress
    let channel: ChannelID
    /// The number of the last notification that the client says it has; `nil`: it does not say.
    let latest: UInt64?

    /// The channel that a path names; `nil` if the path names no user.
    init?(_ route: Route, of audience: Endpoint.Audience, latest: UInt64?, defaultDomain: String) {
        // The path of a guest may hold a token. The name of the channel says which guest it belongs to.
        let user =
            switch audience {
            case .guests: GuestID(owning: route.id).map { UserAddress($0) }
            case .users: UserAddress(parsing: route.user, defaultDomain: defaultDomain)
            }
        guard let user else { return nil }
        self.user = user
        channel = ChannelID(route.id)
        self.latest = latest
    }
}

extension HTTPRequestHead {
    /// The last notification that the client has: `since` in the query; `nil`: it does not say, or not in digits.
    fileprivate var latestEventID: UInt64? { queryValue("since").flatMap { UInt64($0) } }

    /// `access_token` in the query; `nil`: there is none. Tokens have no character that would be escaped.
    fileprivate var accessToken: String? { queryValue("access_token").map(String.init) }

    private func queryValue(_ name: String) -> Substring? {
        guard let query = uri.firstIndex(of: "?") else { return nil }
        return uri[query...].dropFirst().split(separator: "&").first { $0.hasPrefix(name + "=") }?
            .dropFirst(name.count + 1)
    }

    /// The headers that tell proxies' clients.
    fileprivate var forwardingFields: HTTPFields {
        var fields = HTTPFields()
        for value in headers["x-forwarded-for"] { fields.append(HTTPField(name: .xForwardedFor, value: value)) }
        return fields
    }
}

extension APIError {
    fileprivate static let noSuchChannel = APIError(
        .channelNotFound, "This channel does not exist; its subscription may have ended.")
}
