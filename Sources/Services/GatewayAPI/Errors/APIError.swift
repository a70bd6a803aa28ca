package import CallControl
import Primitives

/// A refused request: a code for programs, a sentence for people.
///
/// Deviation: RFC 9457 would put these members into `application/problem+json`. SPiDR clients read `statusCode`
/// inside the wrapper of the resource they asked for (spidr-wire §1.5), so `code` and `reason` travel there too.
package struct APIError: Error, Hashable, Sendable {
    package var code: ErrorCode
    /// What went wrong and, where there is something to do, what. Never tells anything about another user.
    package var reason: String
    /// When it makes sense to ask again.
    package var retryAfter: Duration?
    /// What the call is to the user who asked, where that is the reason.
    package var state: LegState?

    package init(_ code: ErrorCode, _ reason: String, retryAfter: Duration? = nil, state: LegState? = nil) {
        self.code = code
        self.reason = reason
        self.retryAfter = retryAfter
        self.state = state
    }

    /// Whole seconds for the `Retry-After` header, at least one (RFC 9110 §10.2.3).
    package var retryAfterSeconds: Int64? {
        retryAfter.map { duration in
            let (seconds, attoseconds) = duration.components
            return max(1, attoseconds > 0 ? seconds + 1 : seconds)
        }
    }

    /// For clients that can wait more precisely, at least one; rounded up.
    private var retryAfterMilliseconds: Int64? {
        retryAfter.map { max(1, ($0.wholeNanoseconds + 999_999) / 1_000_000) }
    }

    /// The body of the answer, inside the wrapper of the resource that was asked for.
    package func body(in wrapper: ErrorWrapper) -> ErrorBody {
        ErrorBody(
            wrapper: wrapper, statusCode: code.statusCode, code: code.rawValue, reason: reason,
            // Of a request that met another one in the same call the clients read seconds (spidr-wire §8.9), of overload milliseconds.
            retryAfter: code == .callPending ? retryAfterSeconds : retryAfterMilliseconds,
            state: state?.rawValue
        )
    }
}
