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
    /// The user's address, redacted.
    package static let user = "user"

    // MARK: What happened

    /// What a client asked for, by its name in the metrics.
    package static let request = "request"
    /// What became of it.
    package static let result = "result"

    /// What came in, such as a command or a timeout.
    package static let input = "input"
    /// What was done in consequence.
    package static let action = "action"
    /// What happened to the media of a leg.
    package static let event = "event"
    /// Why something was refused or failed.
    package static let reason = "reason"
    /// The error that was caught.
    package static let error = "error"
    /// How many there were.
    package static let count = "count"
    /// How many subscriptions there were.
    package static let subscriptions = "subscriptions"
    /// How many calls there were.
    package static let calls = "calls"

    // MARK: Where

    /// The TCP ports that the gateway serves.
    package static let port = "port"
    /// The path of a file.
    package static let path = "path"
    /// A table of the database.
    package static let table = "table"

    // MARK: Signalling

    /// The HTTP method.
    package static let method = "http.method"
    /// The template of the request's path, without the values in it.
    package static let route = "http.route"
    /// The HTTP status.
    package static let status = "http.status"

    // MARK: The process

    /// The version of the gateway.
    package static let version = "version"
    /// Who carries the media: the gateway, or the peers themselves.
    package static let media = "media"

    // MARK: Applications

    /// The name of an application.
    package static let application = "application"
    /// The key of the demo application, which everybody knows.
    package static let key = "key"
    /// The name of a webhook.
    package static let webhook = "webhook"
}
