import EventLoops
import HummingbirdCore
import Logging
import NIOCore
import Observability
import Primitives
import Sockets
import Synchronization

/// Admits the connections of one port, refuses others, and makes room. Everything happens on the event loop of the
/// listening channel.
final class ConnectionGate: ChannelInboundHandler {
    typealias InboundIn = any Channel
    typealias InboundOut = any Channel

    private let writeTimeout: TimeAmount
    private let trustedProxies: TrustedProxies
    /// Whether connections of trusted proxies start with a PROXY header.
    private let readsProxyHeaders: Bool
    private let metrics: GatewayMetrics
    private let logger: Logger
    private let eventLoop: any EventLoop
    private var table: ConnectionTable
    private var open: [ConnectionTable.ID: (channel: any Channel, place: ConnectionPlace)] = [:]
    private var lastID: ConnectionTable.ID = 0
    private var nextWarning: [ConnectionRefusal: NIODeadline] = [:]
    private var nextHeaderWarning: NIODeadline?
    private var spare = SpareDescriptor()
    /// Whether the spare descriptor has been given up, so that the next accepted connection uses it.
    private var turnsAway = false
    private var isPaused = false

    init(
        _ limits: ConnectionTable.Configuration, trustedProxies: TrustedProxies, readsProxyHeaders: Bool,
        writeTimeout: TimeAmount,
        metrics: GatewayMetrics,
        logger: Logger, on eventLoop: any EventLoop
    ) {
        table = ConnectionTable(limits)
        self.trustedProxies = trustedProxies
        self.readsProxyHeaders = readsProxyHeaders
        self.writeTimeout = writeTimeout
        self.metrics = metrics
        self.logger = logger
        self.eventLoop = eventLoop
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let channel = Self.unwrapInboundIn(data)
        if turnsAway { return turnAwayWithSpare(channel) }
        // A peer that has left already has no address.
        let address = channel.sourceAddress ?? IPAddress(v4: 0)
        let isProxy = trustedProxies.contains(address.unmapped)
        lastID += 1
        switch table.admit(
            lastID, from: SourceNetwork(address), isProxy: isProxy, waitingSince: { open[$0]?.place.waitingSince })
        {
        case .refused(let reason):
            refuse(channel, reason)
        case .admitted(let leaving):
            for id in leaving { evict(id) }
            admit(channel, lastID, readsHeader: isProxy && readsProxyHeaders)
            context.fireChannelRead(data)
        }
    }

    func becameChannel(_ id: ConnectionTable.ID) { table.becameChannel(id) }

    /// Counts a connection for the client that a trusted proxy has told.
    func belongs(_ id: ConnectionTable.ID, to client: IPAddress) {
        let isProxy = trustedProxies.contains(client)
        switch table.attribute(
            id, to: SourceNetwork(client), isProxy: isProxy, waitingSince: { open[$0]?.place.waitingSince })
        {
        case .refused(let reason):
            guard let channel = open[id]?.channel else { return }
            refuse(channel, reason)
        case .admitted(let leaving):
            for id in leaving { evict(id) }
        }
    }

    func headerRefused(_ fault: ProxyHeader.Fault) {
        let now = NIODeadline.now()
        guard now >= nextHeaderWarning ?? now else { return }
        nextHeaderWarning = now + .minutes(1)
        logger.warning("a proxy's connection is refused", metadata: [LogKey.reason: "\(fault)"])
    }

    private func admit(_ channel: any Channel, _ id: ConnectionTable.ID, readsHeader: Bool) {
        let gate = NIOLoopBound(self, eventLoop: eventLoop)
        let place = ConnectionPlace(id: id, gate: gate, on: eventLoop)
        open[id] = (channel, place)
        metrics.connectionsActive.increment()
        let (metrics, writeTimeout) = (metrics, writeTimeout)
        // This comes before anything else is added: the rest of the set-up runs on the same loop later.
        channel.eventLoop.runNowOrNext {
            let monitor = ConnectionMonitor(place: place, writeTimeout: writeTimeout, metrics: metrics)
            var handlers: [any ChannelHandler] = [monitor]
            if readsHeader { handlers.append(ProxyHeaderHandler(before: monitor, metrics: metrics)) }
            // Fails only on a channel that is closed already.
            try? channel.pipeline.syncOperations.addHandlers(handlers, position: .first)
        }
        channel.closeFuture.hop(to: eventLoop).whenComplete { _ in gate.value.closed(id) }
    }

    private func closed(_ id: ConnectionTable.ID) {
        if open.removeValue(forKey: id) != nil { metrics.connectionsActive.decrement() }
        table.remove(id)
    }

    private func evict(_ id: ConnectionTable.ID) {
        guard let channel = open[id]?.channel else { return }
        metrics.connectionsClosed[.evicted].increment()
        channel.pipeline.fireUserInboundEventTriggered(ConnectionMonitor.EvictionEvent())
    }

    /// Closes a connection before anything was set up for it; nothing of it is kept.
    private func refuse(_ channel: any Channel, _ reason: ConnectionRefusal) {
        metrics.connectionsRefused[reason].increment()
        warn(reason)
        channel.eventLoop.execute {
            channel.resetOnClose()
            channel.close(promise: nil)
        }
    }

    /// Logs one line a minute for each reason, however many connections come.
    private func warn(_ reason: ConnectionRefusal) {
        let now = NIODeadline.now()
        guard now >= nextWarning[reason] ?? now else { return }
        nextWarning[reason] = now + .minutes(1)
        logger.warning(
            "connections are turned away",
            metadata: [LogKey.reason: "\(reason.rawValue)", LogKey.count: "\(open.count)"])
    }

    // MARK: - Without descriptors

    /// Handles an accept that fails because the process has no file descriptors left.
    ///
    /// Such a client stays in the kernel's queue, and NIO 2.101 accepts again at once, for ever: its
    /// `AcceptBackoffHandler` is not told, because the read does not count as done. So the port stops listening for a
    /// moment. Then the spare descriptor is given up, to refuse the client that is first in the queue.
    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let failure = error as? IOError, DescriptorLimit.isReached(failure.errnoCode) else {
            return context.fireErrorCaught(error)
        }
        warn(.descriptors)
        guard !isPaused else { return }
        isPaused = true
        listen(false, context)
        context.eventLoop.assumeIsolated().scheduleTask(in: Self.pause) {
            self.isPaused = false
            self.turnsAway = !self.spare.retake()
            if self.turnsAway { self.spare.release() }
            self.listen(true, context)
        }
    }

    private static let pause = TimeAmount.milliseconds(20)

    private func listen(_ listens: Bool, _ context: ChannelHandlerContext) {
        // Fails only on a channel that is closed already.
        try? context.channel.syncOptions?.setOption(.autoRead, value: listens)
    }

    private func turnAwayWithSpare(_ channel: any Channel) {
        let gate = NIOLoopBound(self, eventLoop: eventLoop)
        channel.closeFuture.hop(to: eventLoop).whenComplete { _ in
            _ = gate.value.spare.retake()
            // Another part of the process may have taken the descriptor first.
            gate.value.turnsAway = !gate.value.spare.isHeld
        }
        refuse(channel, .descriptors)
    }
}

extension EventLoop {
    /// Runs at once on this loop; from elsewhere, before whatever is handed to the loop later.
    fileprivate func runNowOrNext(_ action: @escaping @Sendable () -> Void) {
        if inEventLoop { action() } else { execute(action) }
    }
}

/// Keeps a listener from accepting before its ``ConnectionGate`` is in place, since the server gives the listener out
/// only when it listens already. Clients that connect meanwhile wait in the kernel's queue.
final class AcceptPermission: AvailableConnectionsDelegate {
    private let isGranted = Atomic(false)

    func grant() { isGranted.store(true, ordering: .releasing) }

    func isAcceptingNewConnections() -> Bool { isGranted.load(ordering: .acquiring) }

    // The gate counts connections.
    func connectionOpened() {}
    func connectionClosed() {}
}
