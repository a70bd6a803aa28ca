internal import AudioStreams
package import CallRuntime
package import Primitives
package import Sockets
internal import WebSocketClient

/// The limits of streams that the gateway opens.
package struct StreamClientConfiguration: Sendable {
    /// The most sockets at a time, 1 or more.
    package var connections = 1_000
    /// The time until a socket is open; more than 0.
    package var connectTime = Duration.seconds(10)
    /// Addresses that are permitted although the Internet does not route them.
    package var allowedAddresses: [IPAddressRange] = []
    /// A file with the certificates in PEM of the authorities that are trusted; `nil`: those of the system.
    package var authorityPath: String?
    /// Whether URLs with `ws:` are permitted.
    package var allowsPlain = false

    /// Makes a configuration with the default of each property.
    package init() {}
}

/// Connects to the programs of streams, over WebSockets.
package final class StreamDialer: StreamConnector {
    private let client: WebSocketClient

    /// Starts the thread of the sockets.
    ///
    /// - Throws: `SocketError` if no thread can be started.
    package init(_ configuration: StreamClientConfiguration = StreamClientConfiguration()) throws(SocketError) {
        var limits = WebSocketClient.Configuration()
        limits.connections = configuration.connections
        limits.connectTimeout = configuration.connectTime
        limits.addresses.allowed = configuration.allowedAddresses
        limits.authorityFile = configuration.authorityPath
        limits.allowsPlain = configuration.allowsPlain
        client = try WebSocketClient(name: "streams", configuration: limits)
    }

    /// Connects to a program, once.
    package func connect(
        _ link: StreamLink, to destination: StreamDestination, subprotocol: String?,
        telling tell: @escaping @Sendable (StreamNews) -> Void
    ) -> @Sendable () -> Void {
        let request = WebSocketRequest(
            destination.url, subprotocol: subprotocol, fields: destination.fields.map { ($0.name, $0.value.value) })
        let ticket = client.connect(request, LinkedSocket(link: link, tell: tell))
        return { [client] in client.cancel(ticket) }
    }

    /// Gives all sockets up, and waits for the end of their thread. Later ones do not come about.
    package func shutDown() { client.shutDown() }
}

/// The gateway's end of a socket: the queues of its stream.
private struct LinkedSocket: WebSocketEnd {
    let link: StreamLink
    /// Tells what becomes of the socket.
    let tell: @Sendable (StreamNews) -> Void

    func opened(waking wake: @escaping @Sendable () -> Void) {
        link.connect(waking: wake)
        tell(.opened)
    }

    func receive(_ message: WebSocketMessage) -> Bool {
        switch message {
        case .text(let text): link.receive(.text(text))
        case .binary(let bytes): link.receive(.binary(bytes))
        }
    }

    func take() -> WebSocketOutput {
        let taken = link.takeOutward()
        let messages = taken.frames.map { frame -> WebSocketMessage in
            switch frame {
            case .text(let text): .text(text)
            case .binary(let bytes): .binary(bytes)
            }
        }
        return WebSocketOutput(messages: messages, close: taken.end.map { .init($0) })
    }

    var mayRead: Bool { link.mayRead }

    var isEnding: Bool { link.isEnding }

    var isOverfull: Bool { link.isOverfull }

    func closed(because reason: WebSocketFailure) {
        let (loss, words) = (StreamLoss(reason), "\(reason)")
        // A program that was cut off may do without the closing handshake, or close the socket by itself meanwhile.
        link.disconnect { [link, tell] in tell(.lost(link.loss(unlessEnded: loss), words)) }
    }
}

extension WebSocketOutput.Close {
    /// The end of a socket for that of its stream (RFC 6455 §7.4.1).
    fileprivate init(_ end: StreamEnd) {
        let code =
            switch end {
            case .callEnded, .stopped, .byBot, .replaced: 1_000
            case .shutdown: 1_001
            case .faults, .unreachable: 1_008
            }
        self.init(code: code, words: end.rawValue)
    }
}

extension StreamLoss {
    /// What the end of a socket means for its stream.
    fileprivate init(_ reason: WebSocketFailure) {
        self =
            switch reason {
            case .ended, .shutDown: .ended
            case .closed(let code): StreamLoss(closedWith: code)
            case .insecure, .unusableField, .refusedAddress, .unresolved, .notConnected, .untrusted, .refused,
                .timedOut, .tooMany, .lost, .notReading, .tooLarge:
                reason.isTransient ? .transient : .final
            }
    }
}
