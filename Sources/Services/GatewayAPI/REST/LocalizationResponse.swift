/// The answer to `GET …/localization`, which has no wrapper (spidr-wire §10).
package struct LocalizationResponse: Codable, Equatable, Sendable {
    /// The languages that the client asks for, as a value of `Accept-Language` (RFC 9110 §12.5.4); empty: any.
    package var acceptLanguage: String

    /// The most characters that are answered: whole languages up to there.
    package static let maximumLength = 256

    /// Makes the answer to a request.
    ///
    /// Only the header's languages that are well-formed are answered, in the header's order: a language range (RFC 4647
    /// §2.1), and a weight if there is one.
    ///
    /// - Parameter header: `Accept-Language`; `nil`: the request has none.
    package init(acceptLanguage header: String?) {
        var kept = ""
        for language in (header ?? "").split(separator: ",") {
            let language = language.filter { $0 != " " && $0 != "\t" }
            guard Self.isWellFormed(language) else { continue }
            let longer = kept.isEmpty ? language : "\(kept),\(language)"
            guard longer.utf8.count <= Self.maximumLength else { break }
            kept = longer
        }
        acceptLanguage = kept
    }

    private static func isWellFormed(_ language: String) -> Bool {
        let parts = language.split(separator: ";", omittingEmptySubsequences: false)
        guard let range = parts.first, parts.count <= 2 else { return false }
        return isRange(range) && (parts.count == 1 || isWeight(parts[1]))
    }

    /// `*`, or subtags of one to eight letters or digits, joined by hyphens.
    private static func isRange(_ text: Substring) -> Bool {
        text == "*"
            || text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { subtag in
                1...8 ~= subtag.utf8.count && subtag.utf8.allSatisfy(\.isLetterOrDigit)
            }
    }

    /// `q=` and a number from 0 to 1 with three decimals at most (RFC 9110 §12.4.2).
    private static func isWeight(_ text: Substring) -> Bool {
        guard text.hasPrefix("q=") || text.hasPrefix("Q="), let first = text.dropFirst(2).first else { return false }
        let rest = text.dropFirst(3)
        guard first == "0" || first == "1", rest.isEmpty || rest.first == "." else { return false }
        let decimals = rest.dropFirst()
        return decimals.utf8.count <= 3 && decimals.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }
            && (first == "0" || decimals.allSatisfy { $0 == "0" })
    }
}

extension UInt8 {
    fileprivate var isLetterOrDigit: Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= self || UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20
    }
}
