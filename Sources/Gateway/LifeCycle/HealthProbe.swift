import NIOCore
import NIOPosix
import NIOSSL

/// Asks the gateway on this machine how it is; what the container's health check runs.
package enum HealthProbe {
    /// Whether `/health`, or `/ready`, answers 200 on the port of the configuration.
    package static func succeeds(_ configuration: GatewayConfiguration, readiness: Bool) async throws -> Bool {
        let isPlain = configuration.plainPort != nil || configuration.tlsMode == .off
        let port = configuration.plainPort ?? configuration.listenPort
        let host = ["0.0.0.0", "::"].contains(configuration.listenHost) || configuration.plainPort != nil ? "127.0.0.1" : configuration.listenHost
        let channel = try await ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
            .connectTimeout(.seconds(3))
            .connect(host: host, port: port) { channel in
                channel.eventLoop.makeCompletedFuture {
                    if !isPlain {
                        // The certificate is for clients on the network; this one only asks whether somebody is at home.
                        var tls = TLSConfiguration.makeClientConfiguration()
                        tls.certificateVerification = .none
                        try channel.pipeline.syncOperations.addHandler(NIOSSLClientHandler(context: NIOSSLContext(configuration: tls), serverHostname: nil))
                    }
                    return try NIOAsyncChannel<ByteBuffer, ByteBuffer>(wrappingChannelSynchronously: channel)
                }
            }
        return try await channel.executeThenClose { inbound, outbound in
            let path = readiness ? "/ready" : "/health"
            try await outbound.write(ByteBuffer(string: "GET \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
            var head = ""
            for try await bytes in inbound {
                head += String(buffer: bytes)
                if head.utf8.count >= 12 { break }
            }
            return head.hasPrefix("HTTP/1.1 200")
        }
    }
}
