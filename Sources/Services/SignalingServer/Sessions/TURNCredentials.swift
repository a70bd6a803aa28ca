internal import Cryptography
internal import Foundation
package import Primitives

/// A user name and a password that a TURN server accepts for a limited time, and can verify without having been told
/// (draft-uberti-behave-turn-rest-00 §2.2; coturn's `use-auth-secret`).
///
/// Both are long-term credentials (RFC 8489 §9.2) for the server's realm.
package struct TURNCredentials: Equatable, Sendable {
    /// The end of the validity in Unix time, a colon, and the name of the user.
    package let username: String
    /// base64(HMAC-SHA1(secret, ``username``)).
    package let password: Redacted<String>
    /// How long the server accepts the credentials, from when they were made. An allocation that was made in this time
    /// may outlive it, but cannot be refreshed after it.
    package let timeToLive: Duration

    /// Makes credentials.
    ///
    /// - Parameters:
    ///   - secret: `static-auth-secret` in coturn.
    ///   - user: the name that the TURN server sees and logs; an opaque identifier is best.
    ///   - timeToLive: whole seconds; a fraction is dropped.
    ///   - unixSeconds: the current time.
    package init(secret: Redacted<String>, user: String, timeToLive: Duration, at unixSeconds: Int64) {
        let seconds = max(0, timeToLive.components.seconds)
        let (end, overflow) = unixSeconds.addingReportingOverflow(seconds)
        username = "\(overflow ? .max : end):\(user)"
        password = Redacted(
            Data(HMAC.sha1(key: Array(secret.value.utf8), Array(username.utf8).span)).base64EncodedString())
        self.timeToLive = .seconds(seconds)
    }
}
