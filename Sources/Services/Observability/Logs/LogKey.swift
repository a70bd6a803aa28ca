/// The keys of log metadata. One fact has the same key everywhere, so that a log can be searched by it.
///
/// Dialled numbers, names, addresses of people, passwords and channel identifiers are personal or secret: they are
/// logged as `Redacted` or not at all.
package enum LogKey {
    // MARK: Call and user

    /// The CallID.
    package static let call = "call.id"
    /// The leg of the call.
    package static let leg = "leg"
    /// The transport of the leg: an ICE and a DTLS association (docs/adr/0007).
    package static let transport = "leg.transport"
    package static let session = "session.id"
    package static let subscription = "subscription.id"
    package static let socket = "socket.id"
    package static let user = "user"

    // MARK: What happened

    /// What came in, such as a command or a timeout.
    package static let input = "input"
    /// What was done in consequence.
    package static let action = "action"
    package static let state = "state"
    package static let event = "event"
    package static let outcome = "outcome"
    package static let reason = "reason"
    /// The error that was caught.
    package static let error = "error"
    /// How many there were.
    package static let count = "count"
    /// Seconds.
    package static let duration = "duration"

    // MARK: Where

    package static let address = "address"
    package static let port = "port"
    package static let worker = "worker"
    package static let path = "path"
    package static let file = "file"

    // MARK: Signalling

    /// The HTTP method.
    package static let method = "http.method"
    /// The template of the request's path, without the values in it.
    package static let route = "http.route"
    /// The HTTP status.
    package static let status = "http.status"
    package static let closeCode = "websocket.close_code"

    // MARK: Media

    package static let iceState = "ice.state"
    package static let dtlsState = "dtls.state"
    package static let srtpProfile = "srtp.profile"

    // MARK: The process

    /// The version of the gateway.
    package static let version = "version"
    package static let signal = "signal"
    package static let phase = "phase"
}
