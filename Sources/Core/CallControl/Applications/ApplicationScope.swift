/// A part of what an application may do. The raw value is the word in keys' and tokens' scopes.
package enum ApplicationScope: String, Hashable, Sendable, CaseIterable, Codable {
    /// Log users of its domain in (spidr-wire §2, *Application token*).
    case usersLogin = "users:login"
    /// See its calls.
    case callsRead = "calls:read"
    /// Start and control its calls.
    case callsWrite = "calls:write"
    /// Play to its calls, send and gather keys.
    case media
    /// Record its calls.
    case recordings
    /// Follow the events of its calls.
    case events
}
