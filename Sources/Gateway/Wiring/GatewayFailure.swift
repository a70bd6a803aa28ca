import Foundation
import MediaServer
import NIOCore
import Sockets

/// Why the gateway could not start, in words for the operator.
package struct GatewayFailure: Error, Equatable, CustomStringConvertible {
    /// A sentence that names the setting concerned.
    package var description: String

    init(_ error: MediaServerError) {
        description =
            switch error {
            case .socket(let text): "media.bind, media.port: \(text)"
            case .security(let text): "no certificate for media: \(text)"
            }
    }

    init(startingRecordings error: SocketError) { description = "recordings cannot be written: \(error)" }

    init(startingStreams error: SocketError) { description = "streams cannot be opened: \(error)" }

    init(startingPush error: SocketError) { description = "push cannot be started: \(error)" }

    init(opening configuration: GatewayConfiguration, _ error: IOError) {
        let listen = configuration.listen
        var addresses =
            ["\(listen.host) port \(listen.port)"] + (listen.plainPort.map { ["\(listen.plainHost) port \($0)"] } ?? [])
        if let host = configuration.admin.host { addresses.append("admin: \(host) port \(configuration.admin.port)") }
        if let path = configuration.adminSocketPath { addresses.append("admin: \(path)") }
        let reason =
            switch error.errnoCode {
            case EADDRINUSE: "another process listens there already"
            case EACCES: "this user may not open it"
            case EADDRNOTAVAIL: "this machine has no such address"
            default: "\(error)"
            }
        description = "listen: \(addresses.joined(separator: " or ")) cannot be opened: \(reason)"
    }
}
