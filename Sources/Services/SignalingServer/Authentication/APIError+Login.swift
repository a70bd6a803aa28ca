import GatewayAPI

extension APIError {
    /// The same sentence for an unknown user and a wrong password: a client must not be able to tell one from the
    /// other.
    static let wrongPassword = APIError(.authWrongPassword, "User name or password is wrong.")
    static let unavailable = APIError(
        .authUnavailable, "Credentials cannot be checked at the moment; try again later.", retryAfter: backOff)

    static func busy(retryAfter: Duration) -> APIError {
        APIError(.authBusy, "Many logins are being checked; come back when it is your turn.", retryAfter: retryAfter)
    }

    static func rateLimited(retryAfter: Duration) -> APIError {
        APIError(.authRateLimited, "Too many failed logins; wait before the next try.", retryAfter: retryAfter)
    }
}
