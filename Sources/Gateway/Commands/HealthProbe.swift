import NIOCore
import NIOPosix
import NIOSSL
import Primitives
package import SignalingServer

/// Asks a running gateway on this machine about its state. It is for health checks in containers, which have no other
/// HTTP client.
package struct HealthProbe: Sendable {
    /// The resource that is asked for.
    package enum Question: String, CaseIterable, Sendable {
        /// Whether the process serves at all.
        case health
        /// Whether new clients should be sent here.
        case ready
    }

    /// Why the answer was not 200, in words for the operator.
    package struct Failure: Error, CustomStringConvertible {
        /// One line for standard error, such as `/ready answered HTTP/1.1 503 …`.
        package var description: String
    }

    private let host: String
    private let port: Int
    private let usesTLS: Bool
    /// From which addresses a connection must start with a PROXY header.
    private var proxies = TrustedProxies()

    /// Makes a probe of the plain port if there is one, otherwise of the main port.
    package init(_ configuration: GatewayConfiguration) {
        if let plainPort = configuration.listen.plainPort {
            (host, port, usesTLS) = (configuration.listen.plainHost, Int(plainPort), false)
        } else {
            (host, port, usesTLS) = (
                configuration.listen.host, Int(configuration.listen.port), configuration.tls.mode == .on
            )
            if configuration.listen.proxyProtocol == .required { proxies = configuration.signaling.trustedProxies }
        }
    }

    /// Makes a probe for tests, whose ports the system chooses.
    package init(host: String, port: Int, usesTLS: Bool, proxies: TrustedProxies = TrustedProxies()) {
        (self.host, self.port, self.usesTLS, self.proxies) = (host, port, usesTLS, proxies)
    }

    /// Asks, and returns if the answer is 200.
    ///
    /// - Parameter limit: how long an answer may take.
    /// - Throws: ``Failure`` for another answer, none in time, or no connection.
    package func ask(_ question: Question, within limit: Duration = .seconds(3)) async throws(Failure) {
        let status: String
        do {
            status = try await withThrowingTaskGroup(of: String.self) { group in
                group.addTask { try await statusLine(of: question) }
                group.addTask {
                    try await Task.sleep(for: limit)
                    throw Failure(description: "no answer within \(limit)")
                }
                defer { group.cancelAll() }
                return try await group.next() ?? ""
            }
        } catch let failure as Failure {
            throw failure
        } catch is NIOConnectionError {
            throw Failure(description: "nothing listens on \(reachableHost):\(port)")
        } catch {
            throw Failure(description: "\(reachableHost):\(port) cannot be reached: \(error)")
        }
        guard status.split(separator: " ").dropFirst().first == "200" else {
            throw Failure(description: "/\(question.rawValue) answered \(status.isEmpty ? "nothing" : status)")
        }
    }

    /// The address to connect to: a listener on every address is also on loopback.
    private var reachableHost: String { host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host }

    private func statusLine(of question: Question) async throws -> String {
        let tls = usesTLS ? try NIOSSLContext(configuration: Self.trustingConfiguration) : nil
        let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup).connect(
            host: reachableHost, port: port
        ) { [proxies] channel in
            channel.eventLoop.makeCompletedFuture {
                try channel.pipeline.syncOperations.addHandler(LocalHeaderWriter(proxies))
                if let tls {
                    try channel.pipeline.syncOperations.addHandler(
                        NIOSSLClientHandler(context: tls, serverHostname: nil))
                }
                return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
            }
        }
        return try await channel.executeThenClose { inbound, outbound in
            try await outbound.write(
                ByteBuffer(string: "GET /\(question.rawValue) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
            )
            var answer = ""
            for try await part in inbound {
                answer += String(buffer: part)
                if let end = answer.firstIndex(where: \.isNewline) { return String(answer[..<end]) }
            }
            return answer
        }
    }

    /// A TLS configuration that does not verify the certificate. The probe asks the gateway of its own machine, whose
    /// certificate is for another name, and needs no proof of identity.
    private static var trustingConfiguration: TLSConfiguration {
        var configuration = TLSConfiguration.makeClientConfiguration()
        configuration.certificateVerification = .none
        return configuration
    }
}

/// Starts a connection with a PROXY header (LOCAL), before TLS, if the gateway takes this machine for a trusted proxy.
private final class LocalHeaderWriter: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private let proxies: TrustedProxies

    init(_ proxies: TrustedProxies) { self.proxies = proxies }

    func channelActive(context: ChannelHandlerContext) {
        if let text = context.localAddress?.ipAddress, let own = IPAddress(text), proxies.contains(own.unmapped) {
            context.write(Self.wrapOutboundOut(ByteBuffer(bytes: ProxyHeader.local)), promise: nil)
        }
        context.fireChannelActive()
    }
}
