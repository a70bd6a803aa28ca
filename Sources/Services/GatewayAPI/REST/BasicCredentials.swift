package import CallControl
import Foundation
package import Primitives

/// Name and password out of an `Authorization: Basic` header (RFC 7617).
package struct BasicCredentials: Equatable, Sendable {
    package let user: UserAddress
    package let password: Redacted<String>

    package init(user: UserAddress, password: String) {
        self.user = user
        self.password = Redacted(password)
    }

    /// - Parameters:
    ///   - header: the header's value. The scheme is compared without case: some clients write `basic`.
    ///   - defaultDomain: completes a name without a domain.
    package init(parsing header: String?, defaultDomain: String) throws(APIError) {
        guard let header else {
            throw APIError(.authMissing, "Send the header \"Authorization: Basic …\" with user name and password.")
        }
        let scheme = header.prefix { $0 != " " }
        guard scheme.lowercased() == "basic" else {
            throw APIError(.authUnsupportedScheme, "Only the authentication scheme Basic is offered.")
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
        self.init(user: user, password: String(text[text.index(after: colon)...]))
    }
}
