internal import Cryptography
internal import Foundation
package import Primitives

/// A name and a password that a TURN server accepts for a while, and that it can verify without having been told
/// (draft-uberti-behave-turn-rest-00 §2.2; coturn's `use-auth-secret`).
///
/// The name is the end of its validity in Unix time, a colon, and whom it is for; the password is
/// base64(HMAC-SHA1(secret, name)). Both are long-term credentials (RFC 8489 §9.2) for the server's realm.
package struct TURNCredentials: Equatable, Sendable {
    package let username: String
    package let password: Redacted<String>
    /// How long the server accepts them, from when they were made. An allocation made in that time may outlive it, but not be refreshed.
    package let timeToLive: Duration

    /// - Parameters:
    ///   - secret: `static-auth-secret` in coturn.
    ///   - user: seen by the TURN server and in its logs; an opaque identifier is best.
    ///   - timeToLive: whole seconds; a part of one is dropped.
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
