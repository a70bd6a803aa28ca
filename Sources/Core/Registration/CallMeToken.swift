package import CallControl
import Primitives

/// The content of a decrypted callMe token, `<address>;<unix time in ms>` (spidr-wire §2).
package struct CallMeToken: Equatable, Sendable {
    /// The account that the guest may call.
    package var address: UserAddress
    /// When the token was made, in milliseconds since 1970.
    package var issuedAt: Int64

    /// Makes a token of its parts; each parameter is the property of that name.
    package init(address: UserAddress, issuedAt: Int64) {
        self.address = address
        self.issuedAt = issuedAt
    }

    /// Reads the decrypted text; `nil` if it has another form.
    ///
    /// - Parameter defaultDomain: completes an address without a domain.
    package init?(parsing plaintext: [UInt8], defaultDomain: String) {
        // An address may have parameters of its own; therefore the time follows the last semicolon.
        guard let text = String(validating: plaintext, as: UTF8.self),
            let semicolon = text.utf8.lastIndex(of: UInt8(ascii: ";"))
        else {
            return nil
        }
        let digits = text[text.utf8.index(after: semicolon)...]
        guard digits.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }), let issuedAt = Int64(digits),
            let address = UserAddress(parsing: String(text[..<semicolon]), defaultDomain: defaultDomain)
        else { return nil }
        self.init(address: address, issuedAt: issuedAt)
    }

    /// Whether the time of the token and `now` are at most `window` apart, in either direction: clocks differ.
    package func isCurrent(atUnixMilliseconds now: Int64, window: Duration) -> Bool {
        let (difference, overflow) = now.subtractingReportingOverflow(issuedAt)
        return !overflow && difference.magnitude <= UInt64(max(0, window.wholeNanoseconds / 1_000_000))
    }
}
