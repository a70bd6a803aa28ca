import AdminServer
import NIOSSL
import Primitives

/// Where the administration interface is.
extension GatewayConfiguration {
    /// The longest path of a Unix socket that SwiftNIO takes. Linux itself takes 107 bytes (unix(7), `sun_path`).
    private static let longestSocketPath = 103

    /// The path of the Unix socket; `nil`: there is none.
    package var adminSocketPath: String? {
        switch admin.socket {
        case .off: return nil
        case .path(let path): return path
        case .auto:
            guard !isDevelopment else { return nil }
            let path = storagePath + ".admin"
            return path.utf8.count <= Self.longestSocketPath ? path : nil
        }
    }

    /// The listeners of the administration interface.
    ///
    /// - Parameter tls: the TLS parameters of the main listener.
    func adminListeners(tls: TLSConfiguration?) -> AdminConfiguration {
        AdminConfiguration(
            socket: adminSocketPath,
            address: admin.host.map {
                AdminConfiguration.Address(host: $0, port: Int(admin.port), tls: Self.isLoopback($0) ? nil : tls)
            })
    }

    /// Whether only this machine reaches an address.
    static func isLoopback(_ host: String) -> Bool {
        host.lowercased() == "localhost" || IPAddress(host)?.isLoopback ?? false
    }

    var adminComplaints: [String] {
        var complaints: [String] = []
        if let host = admin.host, !Self.isLoopback(host), tls.mode == .off {
            complaints.append(
                "admin.host \(host) is reached from other machines, and tls.mode is off: tokens would travel unencrypted; "
                    + "use 127.0.0.1 and a proxy or an SSH tunnel")
        }
        if case .path(let path) = admin.socket, path.utf8.count > Self.longestSocketPath {
            complaints.append("admin.socket: the path of a Unix socket has at most \(Self.longestSocketPath) bytes")
        }
        let ports = [(listen.host, listen.port)] + (listen.plainPort.map { [(listen.plainHost, $0)] } ?? [])
        if let host = admin.host, admin.port != 0, ports.contains(where: { $0 == (host, admin.port) }) {
            complaints.append("admin.port and listen.port or listen.plain_port are the same")
        }
        return complaints
    }

    var adminWarnings: [String] {
        guard admin.socket == .auto, !isDevelopment, adminSocketPath == nil else { return [] }
        return [
            "admin.socket: there is none, since \(storagePath).admin is longer than the path of a Unix socket may be; name another"
        ]
    }
}
