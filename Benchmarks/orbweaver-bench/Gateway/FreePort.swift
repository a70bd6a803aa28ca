import ArgumentParser
import NIOCore
import NIOPosix
import Primitives
import Sockets

/// Ports that were free a moment ago.
enum FreePort {
    static func tcp() async throws -> Int {
        let channel = try await ServerBootstrap(group: MultiThreadedEventLoopGroup.singleton).bind(
            host: "127.0.0.1", port: 0
        ).get()
        guard let port = channel.localAddress?.port else { throw ValidationError("no free port") }
        try await channel.close()
        return port
    }

    static func udp() throws -> Int {
        Int(try UDPSocket(bind: SocketAddress(IPAddress(v4: 0x7F00_0001), port: 0)).localAddress.port)
    }
}
