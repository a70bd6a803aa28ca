import EventAPI
import GatewayAPI
import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOWebSocket
import Observability
import Primitives
import Sockets

/// A WebSocket that is sent events as text messages, and only listened to for signs of life. The next ones are asked
/// for once the kernel has taken those before, so that no more than one answer waits for a slow reader. Once it has
/// everything, it follows with the other sockets of its event loop, and its task waits.
struct MessageSocket: Sendable {
    private let channel: any Channel
    private let handler: NIOLoopBound<WebSocketHandler>
    private let broadcast: NIOLoopBound<EventBroadcast>
    /// Its name in the broadcast.
    private let name: UInt64
    private let messages: @Sendable (Int64?) async -> EventMessages?

    /// Makes a socket; to be called on the channel's event loop.
    init(
        channel: any Channel, handler: WebSocketHandler, broadcast: EventBroadcast,
        messages: @escaping @Sendable (Int64?) async -> EventMessages?
    ) {
        self.channel = channel
        self.handler = NIOLoopBound(handler, eventLoop: channel.eventLoop)
        self.broadcast = NIOLoopBound(broadcast, eventLoop: channel.eventLoop)
        name = broadcast.makeName()
        self.messages = messages
    }

    /// Sends messages until the stream or the connection ends.
    func serve(_ draining: DrainingFlag) async {
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                group.addTask {
                    var followed: Int64?
                    while let next = await messages(followed) {
                        switch next {
                        case .objects(let objects):
                            followed = nil
                            // Fails only if the connection has ended.
                            do { for object in objects { try await send(object) } } catch { return }
                        case .follow(let following): followed = await follow(following)
                        }
                    }
                    close(draining.isSet ? .goingAway : .normalClosure)
                }
                // Cannot fail: the future of a channel's closing only ever succeeds.
                try? await channel.closeFuture.get()
                group.cancelAll()
            }
        } onCancel: {
            close(.goingAway)
        }
    }

    private func send(_ message: [UInt8]) async throws {
        let text = ByteBuffer(bytes: message)
        let promise = channel.eventLoop.makePromise(of: Void.self)
        // Where the task runs on the loop, and the kernel takes the message at once, nothing has to wait.
        if channel.eventLoop.inEventLoop {
            handler.value.send(text, promise)
        } else {
            channel.eventLoop.execute { [handler] in handler.value.send(text, promise) }
        }
        try await promise.futureResult.get()
    }

    /// Follows until the socket has to be looked after again.
    ///
    /// - Returns: its place.
    private func follow(_ following: EventFollowing) async -> Int64 {
        await withTaskCancellationHandler {
            await withCheckedContinuation { left in
                channel.eventLoop.execute { [handler, broadcast, name] in
                    broadcast.value.join(name, following, handler.value, left)
                }
                // The handler may have run before there was anything to leave.
                if Task.isCancelled { leave() }
            }
        } onCancel: {
            leave()
        }
    }

    private func leave() {
        channel.eventLoop.execute { [broadcast, name] in broadcast.value.leave(name) }
    }

    private func close(_ code: WebSocketErrorCode) {
        channel.eventLoop.execute { [handler] in
            handler.value.close(code, because: code == .goingAway ? .goingAway : .subscriptionEnded)
        }
    }
}

extension V1Gate {
    /// Opens a WebSocket below `/v1/`. A browser cannot send credentials in a header with it, so that a token may stand
    /// in the query.
    ///
    /// - Parameter opened: gets what the socket carries.
    /// - Returns: the refusal; `nil`: there is none.
    func open(
        _ head: HTTPRequestHead, from requester: Requester, _ draining: DrainingFlag,
        into opened: Lock<V1Socket?>
    ) async -> V1Answer? {
        do throws(V1Error) {
            guard let sockets, !draining.isSet else {
                throw V1Error(
                    .serviceUnavailable, "The gateway stops; connect again.", retryAfter: .seconds(1))
            }
            var headers = HTTPFields()
            for (name, value) in head.headers {
                if let name = HTTPField.Name(name) { headers.append(HTTPField(name: name, value: value)) }
            }
            var pairs = head.uri.split(separator: "?", maxSplits: 1).dropFirst().first?.split(separator: "&") ?? []
            if headers[.authorization] == nil, let place = pairs.firstIndex(where: { $0.hasPrefix(Self.tokenName) }) {
                headers[.authorization] = "Bearer \(pairs.remove(at: place).dropFirst(Self.tokenName.count))"
            }
            let principal = try await authenticator.principal(headers[.authorization], from: requester)
            let socket = try await sockets.open(
                V1Request(
                    method: .get, path: head.path, query: pairs.isEmpty ? nil : pairs.joined(separator: "&"),
                    headers: headers, principal: principal, network: requester.address.map { SourceNetwork($0) },
                    body: { () async throws(V1Error) in [] }))
            opened.withLock { $0 = socket }
            return nil
        } catch {
            return .refusal(error)
        }
    }

    private static let tokenName = "access_token="
}
