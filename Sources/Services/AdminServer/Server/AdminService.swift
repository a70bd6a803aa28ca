import CallRuntime
import EventLoops
import Foundation
import HTTPTypes
import HummingbirdCore
import HummingbirdTLS
package import Logging
package import NIOCore
import Primitives
import ServiceLifecycle
import Synchronization

/// Serves the administration interface on listeners of its own, from `run()` until the graceful shutdown. The ports of
/// clients never serve it.
package final class AdminService: Service {
    private let configuration: AdminConfiguration
    private let responder: AdminResponder
    private let group: any EventLoopGroup
    private let logger: Logger
    private let opened: AsyncStream<Int?>
    private let opening: AsyncStream<Int?>.Continuation

    /// Makes a service; ``run()`` opens its listeners.
    ///
    /// - Parameter group: the event loops; they outlive the service.
    package init(
        configuration: AdminConfiguration, responder: AdminResponder, group: any EventLoopGroup, logger: Logger
    ) {
        self.configuration = configuration
        self.responder = responder
        self.group = group
        self.logger = logger
        (opened, opening) = AsyncStream.makeStream()
    }

    /// The TCP port, once it is open; `nil`: there is none. To be called once.
    package func port() async -> Int? {
        guard configuration.address != nil else { return nil }
        for await port in opened { return port }
        return nil
    }

    /// Serves until the graceful shutdown.
    ///
    /// - Throws: `IOError` if a listener cannot be opened, `NIOSSLError` if its TLS configuration cannot be used.
    package func run() async throws {
        defer { opening.finish() }
        let servers = try makeServers()
        guard !servers.isEmpty else {
            // Fails only if another service has failed.
            try? await gracefulShutdown()
            return
        }
        defer { if let path = configuration.socket { try? FileManager.default.removeItem(atPath: path) } }
        try await withThrowingTaskGroup { group in
            for server in servers { group.addTask { try await server.run() } }
            defer { group.cancelAll() }
            for try await _ in group where !Task.isShuttingDownGracefully { return }
        }
    }

    private func makeServers() throws -> [any Service] {
        var servers: [any Service] = []
        if let path = configuration.socket {
            servers.append(
                try HTTPServerBuilder { _ in self.channelSetup }.buildServer(
                    configuration: serverConfiguration(.unixDomainSocket(path: path)), eventLoopGroup: group,
                    logger: logger, responder: answer,
                    onServerRunning: { _ in self.restrict(path) }))
        }
        if let address = configuration.address {
            let plain = HTTPServerBuilder { _ in self.channelSetup }
            let builder =
                if let tls = address.tls { try HTTPServerBuilder.tls(plain, tlsConfiguration: tls) } else { plain }
            servers.append(
                try builder.buildServer(
                    configuration: serverConfiguration(.hostname(address.host, port: address.port)),
                    eventLoopGroup: group, logger: logger, responder: answer,
                    onServerRunning: { channel in self.opening.yield(channel.localAddress?.port) }))
        }
        return servers
    }

    /// Lets only the gateway's user and root connect. Another user who connects in the moment before needs a token.
    private func restrict(_ path: String) {
        do {
            try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: path)
        } catch {
            logger.warning("the administration socket cannot be restricted", metadata: ["error": "\(error)"])
        }
    }

    private func serverConfiguration(_ address: BindAddress) -> ServerConfiguration {
        ServerConfiguration(
            address: address,
            availableConnectionsDelegate: MaximumAvailableConnections(configuration.maxConnections))
    }

    private var channelSetup: HTTP1Channel {
        HTTP1Channel(
            responder: answer,
            configuration: HTTP1Channel.Configuration(
                idleTimeout: TimeAmount(configuration.idleTimeout),
                httpDecoderConfiguration: .init(
                    maxHeaderFieldSize: configuration.maxHeaderBytes, maxHeaderListSize: configuration.maxHeaderBytes,
                    maxHeaderFieldCount: 100)))
    }

    // MARK: One request

    @Sendable @concurrent
    private func answer(_ request: Request, _ writer: consuming ResponseWriter, _ channel: any Channel) async throws {
        let peer: AdminPeer
        if case .unixDomainSocket = channel.localAddress {
            peer = .process(user: try await channel.peerUser())
        } else {
            peer = .network(channel.remoteAddress?.ipAddress.flatMap { IPAddress($0.prefix { $0 != "%" }) })
        }
        let limit = configuration.maxBodyBytes
        let answer = await responder.respond(
            to: AdminRequest(
                method: request.method, path: request.uri.path, query: request.uri.query, headers: request.headers,
                peer: peer, body: { () async throws(AdminError) in try await request.collected(limit: limit) }))
        var head = HTTPResponse(status: .init(code: answer.status), headerFields: answer.headers)
        head.headerFields[.contentType] = answer.contentType
        head.headerFields[.cacheControl] = "no-store"
        head.headerFields[.xContentTypeOptions] = "nosniff"
        let isLast = request.headers[.connection]?.lowercased() == "close" || answer.status == 413
        if isLast { head.headerFields[.connection] = "close" }
        switch answer.body {
        case .bytes(let bytes):
            head.headerFields[.contentLength] = String(bytes.count)
            try await writer.write(response: head, body: .init(byteBuffer: ByteBuffer(bytes: bytes)))
        case .stream(let stream):
            var body: any ResponseBodyWriter = try await writer.writeHead(head)
            for await bytes in stream { try await body.write(ByteBuffer(bytes: bytes)) }
            try await body.finish(nil)
        }
        if isLast { throw ConnectionEnds() }
    }
}

/// Makes the HTTP server close the connection after an answer.
private struct ConnectionEnds: Error {}

extension Request {
    /// The whole body.
    ///
    /// - Throws: `request.body_too_large`, or `request.malformed` if the connection breaks.
    fileprivate func collected(limit: Int) async throws(AdminError) -> [UInt8] {
        let tooLarge = AdminError(.requestBodyTooLarge, "The body is larger than \(limit) bytes.")
        if let length = headers[.contentLength].flatMap({ Int($0) }), length > limit { throw tooLarge }
        var bytes: [UInt8] = []
        do {
            for try await part in body {
                guard bytes.count + part.readableBytes <= limit else { throw tooLarge }
                bytes += part.readableBytesView
            }
        } catch let error as AdminError {
            throw error
        } catch {
            throw AdminError(.requestMalformed, "The body could not be read to its end.")
        }
        return bytes
    }
}
