package import CallControl
import SPiDR
import Primitives

/// A refused request: a code for programs, a sentence for people.
///
/// Deviation: RFC 9457 would put these members into `application/problem+json`. SPiDR clients read `statusCode` inside
/// the wrapper of the resource they asked for (spidr-wire §1.5), so `code` and `reason` travel there too. Requests
/// outside the client protocol are refused with a problem: see ``ErrorForm``.
package struct APIError: Error, Hashable, Sendable {
    /// What was refused and why, for programs; decides the HTTP status and `statusCode`.
    package var code: ErrorCode
    /// What went wrong and, where the client can do something about it, what. A sentence for people.
    ///
    /// It never tells anything about another user.
    package var reason: String
    /// How long the client waits before the request can succeed. `nil`: waiting does not help.
    package var retryAfter: Duration?
    /// The state of the call for the user who asked. `nil` where the state is not the reason.
    package var state: LegState?

    /// Makes a refusal of its parts; each parameter is the property of that name.
    package init(_ code: ErrorCode, _ reason: String, retryAfter: Duration? = nil, state: LegState? = nil) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.state = state
    }

    /// ``retryAfter`` for the `Retry-After` header: whole seconds, rounded up, at least one (RFC 9110 §10.2.3).
    package var retryAfterSeconds: Int64? {
        retryAfter.map { duration in
            let (seconds, attoseconds) = duration.components
            return max(1, attoseconds > 0 ? seconds + 1 : seconds)
        }
    }

    /// ``retryAfter`` for clients that wait more precisely: milliseconds, rounded up, at least one.
    var retryAfterMilliseconds: Int64? {
        retryAfter.map { max(1, ($0.wholeNanoseconds + 999_999) / 1_000_000) }
    }

    /// The body of the answer, inside the wrapper of the resource that was asked for (spidr-wire §1.5).
    ///
    /// `retryAfter` is in milliseconds, except for `call.request_pending`, where it is in seconds (spidr-wire §8.9).
    package func body(in wrapper: ErrorWrapper) -> ErrorBody {
        ErrorBody(
            wrapper: wrapper,
            refusal: .init(
                statusCode: code.statusCode, code: code.rawValue, reason: reason,
                // Clients read seconds after a request that met another one in the same call (spidr-wire §8.9), and
                // milliseconds after overload.
                retryAfter: code == .callPending ? retryAfterSeconds : retryAfterMilliseconds,
                state: state?.word))
    }
}
