/// Services of the protocol that this gateway does not provide (spidr-wire §10), by path.
///
/// Each is refused with 403, in the wrapper of that service if it has one. Clients show the refusal to their users as
/// an error. A path with nothing behind it would look to them like a network that does not work (§12.1).
package enum AbsentService: String, CaseIterable, Sendable {
    /// The number that a mobile phone dials to reach the service: IP multimedia routing number (spidr-wire §10).
    case imrn = "/rest/version/{version}/user/{user}/imrn"

    /// The path, with `{version}`, `{user}` and `{id}` in place of the segments that vary.
    package var template: String { rawValue }

    /// The top-level key below which clients of the service look for `statusCode` (spidr-wire §10).
    package var errorWrapper: ErrorWrapper {
        switch self {
        case .imrn: .imrn
        }
    }
}
