import Primitives

/// What a callMe token says once it is decrypted: `<address>;<unix time in ms>` (spidr-wire §2).
package struct CallMeToken: Equatable, Sendable {
    package var address: UserAddress
    /// When it was made, in milliseconds since 1970.
    package var issuedAt: Int64

    package init(address: UserAddress, issuedAt: Int64) {
        self.address = address
        self.issuedAt = issuedAt
    }

    /// - Parameter defaultDomain: completes an address without one.
    package init?(parsing plaintext: [UInt8], defaultDomain: String) {
        // An address may have parameters of its own: the time follows the last semicolon.
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

    /// Whether its time and ours are at most `window` apart, either way: clocks differ.
    package func isCurrent(atUnixMilliseconds now: Int64, window: Duration) -> Bool {
        let (difference, overflow) = now.subtractingReportingOverflow(issuedAt)
        return !overflow && difference.magnitude <= UInt64(max(0, window.wholeNanoseconds / 1_000_000))
    }
}
