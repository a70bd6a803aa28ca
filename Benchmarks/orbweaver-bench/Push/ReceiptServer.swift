import ArgumentParser
import Cryptography
import Foundation
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL
import Primitives
import Sockets
import Synchronization

/// A push provider in this process that notes when each push arrives. It has HTTP/1.1 over TLS, and answers with 200.
final class ReceiptServer: Sendable {
    let url: String
    /// The files with the certificate to trust, and with a key to sign with.
    let (authority, key): (String, String)
    private let receipts: Receipts
    private let channel: any Channel
    private let folder: URL

    /// - Parameter answers: whether it answers. If not, a client with one connection has one request on its way, and
    ///   all others wait.
    init(answers: Bool = true) async throws {
        let certificate = try Certificate(commonName: "orbweaver-bench", alternativeNames: ["IP:127.0.0.1"])
        let (chain, secret) = (certificate.certificatePEM, certificate.privateKeyPEM.value)
        let tls = try NIOSSLContext(
            configuration: .makeServerConfiguration(
                certificateChain: try NIOSSLCertificate.fromPEMBytes(Array(chain.utf8)).map { .certificate($0) },
                privateKey: .privateKey(NIOSSLPrivateKey(bytes: Array(secret.utf8), format: .pem))))
        let receipts = Receipts()
        self.receipts = receipts
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .childChannelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(NIOSSLServerHandler(context: tls))
                    try channel.pipeline.syncOperations.configureHTTPServerPipeline()
                    try channel.pipeline.syncOperations.addHandler(ReceiptHandler(receipts, answers: answers))
                }
            }
            .bind(host: "127.0.0.1", port: 0).get()
        self.channel = channel
        url = "https://127.0.0.1:\(channel.localAddress?.port ?? 0)"
        folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-bench-receipts-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        authority = folder.appending(path: "certificate.pem").path(percentEncoded: false)
        key = folder.appending(path: "key.pem").path(percentEncoded: false)
        try Data(chain.utf8).write(to: URL(filePath: authority))
        try Data(secret.utf8).write(to: URL(filePath: key))
    }

    func stop() {
        channel.close(promise: nil)
        // What is left of a temporary folder does no harm.
        try? FileManager.default.removeItem(at: folder)
    }

    /// When the push with this number arrived, from 0.
    ///
    /// - Throws: `ValidationError` if it has not arrived after 10 seconds.
    func receipt(_ number: Int) async throws -> MonotonicTime {
        let end = ContinuousClock.now + .seconds(10)
        while ContinuousClock.now < end {
            if let time = receipts.times.withLock({ $0.count > number ? $0[number] : nil }) { return time }
            try await Task.sleep(for: .milliseconds(1))
        }
        throw ValidationError("push \(number) has not arrived")
    }
}

private final class Receipts: Sendable {
    /// When the head of each request had come.
    let times = Mutex<[MonotonicTime]>([])
}

private final class ReceiptHandler: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    private let receipts: Receipts
    private let answers: Bool

    init(_ receipts: Receipts, answers: Bool) { (self.receipts, self.answers) = (receipts, answers) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch Self.unwrapInboundIn(data) {
        case .head: receipts.times.withLock { $0.append(MonotonicClock.now) }
        case .body: break
        case .end where !answers: break
        case .end:
            let head = HTTPResponseHead(version: .http1_1, status: .ok, headers: ["content-length": "0"])
            context.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            context.writeAndFlush(Self.wrapOutboundOut(.end(nil)), promise: nil)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) { context.close(promise: nil) }
}
