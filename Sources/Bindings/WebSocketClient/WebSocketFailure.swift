package import Primitives

/// Why there is no socket, or no longer one.
package enum WebSocketFailure: Error, Equatable, Sendable, CustomStringConvertible {
    /// The URL has `ws:`, which is not permitted.
    case insecure
    /// A header field has characters that no header field may have; the text is its name.
    case unusableField(String)
    /// Every address of the host is refused by the guard; the address is the last one.
    case refusedAddress(IPAddress)
    /// The name of the host has no address; the text is the resolver's reason.
    case unresolved(String)
    /// No connection came about; the text is the library's reason.
    case notConnected(String)
    /// The certificate of the server is not trusted, or is another host's; the text is the library's reason.
    case untrusted(String)
    /// The server has answered the opening handshake with this status in place of 101. Redirects are not followed.
    case refused(status: Int)
    /// The socket was not open in time.
    case timedOut
    /// There are as many connections as there may be.
    case tooMany
    /// The server has closed the socket with this code; 1005: without one (RFC 6455 §7.4).
    case closed(code: Int)
    /// The connection broke.
    case lost
    /// The server does not read what it is sent.
    case notReading
    /// The server has sent a message that is longer than the limit.
    case tooLarge
    /// The gateway has closed the socket.
    case ended
    /// The client was shut down.
    case shutDown

    /// Whether the same request may succeed later.
    package var isTransient: Bool {
        switch self {
        case .unresolved, .notConnected, .timedOut, .tooMany, .lost, .notReading: true
        // Too many requests, or a server that is not well; the others say that the request is wrong (RFC 9110 §15).
        case .refused(let status): status == 408 || status == 425 || status == 429 || status >= 500
        // The server is going away, or in trouble (RFC 6455 §7.4.1, and IANA's registry for 1012 to 1014).
        case .closed(let code): [1001, 1005, 1006, 1011, 1012, 1013, 1014].contains(code)
        case .insecure, .unusableField, .refusedAddress, .untrusted, .tooLarge, .ended, .shutDown: false
        }
    }

    /// The reason as a text for people. It contains no header field's value.
    package var description: String {
        switch self {
        case .insecure: "ws: is not permitted, only wss:"
        case .unusableField(let name): "the header field \(name) has characters that it must not have"
        case .refusedAddress(let address): "connections to \(address) are refused: the Internet does not route it"
        case .unresolved(let reason): "the host is unknown: \(reason)"
        case .notConnected(let reason): "no connection: \(reason)"
        case .untrusted(let reason): "the server is not trusted: \(reason)"
        case .refused(let status): "the server answered with status \(status)"
        case .timedOut: "no connection in time"
        case .tooMany: "there are as many connections as there may be"
        case .closed(let code): "the server has closed the socket with code \(code)"
        case .lost: "the connection broke"
        case .notReading: "the server does not read what it is sent"
        case .tooLarge: "the server has sent a message that is too long"
        case .ended: "the gateway has closed the socket"
        case .shutDown: "the client is shut down"
        }
    }
}
