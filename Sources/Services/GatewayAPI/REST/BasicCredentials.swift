package import CallControl
import Foundation
package import Primitives

/// User name and password from an `Authorization: Basic` header (RFC 7617).
package struct BasicCredentials: Equatable, Sendable {
    /// The name as an address, with its domain completed. It is that of the user unless the name is an auth name.
    package let user: UserAddress
    /// The name has no domain, so that it may be an auth name (spidr-wire §1.2).
    package let isBareName: Bool
    /// The password in clear text; ``Redacted`` keeps it out of logs.
    package let password: Redacted<String>

    /// Makes credentials of a name and a password in clear text.
    package init(user: UserAddress, password: String, isBareName: Bool = false) {
        self.user = user
        self.isBareName = isBareName
        self.password = Redacted(password)
    }

    /// Reads the value of an `Authorization` header.
    ///
    /// - Parameters:
    ///   - header: the header's value; `nil` if the request has none. The scheme is compared without case, since some
    ///     clients write `basic` (spidr-wire §1.2).
    ///   - defaultDomain: completes a user name without a domain.
    /// - Throws: `auth.missing` without a header; `auth.unsupported_scheme` for another scheme than Basic;
    ///   `auth.malformed` if the rest is not base64 of `user:password` in UTF-8, or the name is not an address.
    package init(parsing header: String?, defaultDomain: String) throws(APIError) {
        guard let header else {
            throw APIError(.authMissing, "Send the header \"Authorization: Basic …\" with user name and password.")
        }
        let scheme = header.prefix { $0 != " " }
        guard scheme.lowercased() == "basic" else {
            throw APIError(.authUnsupportedScheme, "This authentication scheme is not offered here; use Basic.")
        }
        guard
            let bytes = Data(base64Encoded: header[scheme.endIndex...].trimmingCharacters(in: .whitespaces)),
            let text = String(validating: bytes, as: UTF8.self),
            let colon = text.firstIndex(of: ":"),
            let user = UserAddress(parsing: String(text[..<colon]), defaultDomain: defaultDomain)
        else {
            throw APIError(
                .authMalformed, "The Authorization header must hold base64 of user@domain:password in UTF-8.")
        }
        self.init(
            user: user, password: String(text[text.index(after: colon)...]),
            isBareName: !text[..<colon].utf8.contains(UInt8(ascii: "@")))
    }
}
