/// The keys of log metadata. One fact has one key everywhere, so that a log can be searched by it.
///
/// Numbers dialled, names, addresses of people, passwords and channel ids are personal or secret: they are logged as
/// `Redacted` or not at all.
package enum LogKey {
    // MARK: Who and what

    package static let call = "call.id"
    package static let leg = "leg"
    package static let transport = "leg.transport"
    package static let session = "session.id"
    package static let subscription = "subscription.id"
    package static let socket = "socket.id"
    package static let user = "user"

    // MARK: What happened

    package static let input = "input"
    package static let action = "action"
    package static let state = "state"
    package static let event = "event"
    package static let outcome = "outcome"
    package static let reason = "reason"
    package static let error = "error"
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

    package static let method = "http.method"
    package static let route = "http.route"
    package static let status = "http.status"
    package static let closeCode = "websocket.close_code"

    // MARK: Media

    package static let iceState = "ice.state"
    package static let dtlsState = "dtls.state"
    package static let srtpProfile = "srtp.profile"

    // MARK: The process

    package static let version = "version"
    package static let signal = "signal"
    package static let phase = "phase"
}
