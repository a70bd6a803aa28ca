package import Primitives

/// Why a request has no response.
package enum HTTPFailure: Error, Equatable, CustomStringConvertible {
    /// The URL is none that this client may ask: its form is wrong, its scheme is not permitted, or it has a user.
    case unusableURL(String)
    /// A header field has characters that no header field may have; the text is its name.
    case unusableField(String)
    /// Every address of the host is refused by the guard; the address is the last one.
    case refusedAddress(IPAddress)
    /// The name of the host has no address; the text is libcurl's reason.
    case unresolved(String)
    /// No connection came about; the text is libcurl's reason.
    case notConnected(String)
    /// The certificate of the server is not trusted, or is another host's; the text is libcurl's reason.
    case untrusted(String)
    /// The connection ended before the whole response had come; the text is libcurl's reason.
    case connectionLost(String)
    /// The response did not come in time.
    case timedOut
    /// The response has more bytes than are accepted.
    case responseTooLarge
    /// As many requests wait as may wait.
    case tooManyWaiting
    /// The task that waited for the response was cancelled.
    case cancelled
    /// The client was shut down.
    case shutDown

    /// Whether the same request may have a response later.
    package var isTransient: Bool {
        switch self {
        case .unresolved, .notConnected, .connectionLost, .timedOut, .tooManyWaiting: true
        case .unusableURL, .unusableField, .refusedAddress, .untrusted, .responseTooLarge, .cancelled, .shutDown: false
        }
    }

    /// The reason as a text for people. It contains no header field's value and no content.
    package var description: String {
        switch self {
        case .unusableURL(let reason): "the URL cannot be used: \(reason)"
        case .unusableField(let name): "the header field \(name) has characters that it must not have"
        case .refusedAddress(let address): "requests to \(address) are refused: the Internet does not route it"
        case .unresolved(let reason): "the host is unknown: \(reason)"
        case .notConnected(let reason): "no connection: \(reason)"
        case .untrusted(let reason): "the server is not trusted: \(reason)"
        case .connectionLost(let reason): "the connection ended too early: \(reason)"
        case .timedOut: "no response in time"
        case .responseTooLarge: "the response is too large"
        case .tooManyWaiting: "too many requests wait"
        case .cancelled: "the request was cancelled"
        case .shutDown: "the client is shut down"
        }
    }
}
