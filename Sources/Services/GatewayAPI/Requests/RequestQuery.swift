import Foundation

/// The parameters of a query, each at most once. `Failure` is what is thrown if they cannot be read.
package struct RequestQuery<Failure: RequestRefusal>: Equatable, Sendable {
    private let values: [String: String]

    /// Reads a query.
    ///
    /// - Parameters:
    ///   - query: the text behind the question mark; `nil`: none.
    ///   - known: the names that may occur.
    /// - Throws: `request.malformed` for a broken percent-escape, or `request.invalid_parameter` for a name that is not
    ///   known or comes twice.
    package init(parsing query: String?, known: Set<String>) throws(Failure) {
        var values: [String: String] = [:]
        for pair in (query ?? "").split(separator: "&") {
            let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let texts = parts.compactMap { $0.replacing("+", with: " ").removingPercentEncoding }
            guard texts.count == parts.count else {
                throw Failure(.malformed, "The query holds a broken percent-escape.")
            }
            let name = texts[0]
            guard known.contains(name) else {
                let possible = known.isEmpty ? "none is known here" : "use \(known.sorted().joined(separator: ", "))"
                throw Failure(
                    .invalidParameter, "The parameter \"\(name.prefix(64))\" is not known; \(possible).")
            }
            guard values[name] == nil else {
                throw Failure(.invalidParameter, "The parameter \"\(name)\" comes twice.")
            }
            values[name] = texts.count > 1 ? texts[1] : ""
        }
        self.values = values
    }

    /// The value of a parameter; `nil`: it is not there.
    package subscript(name: String) -> String? { values[name] }

    /// `true` or `false`; `nil`: the parameter is not there.
    ///
    /// - Throws: `request.invalid_parameter` for another value.
    package func flag(_ name: String) throws(Failure) -> Bool? {
        switch values[name] {
        case nil: nil
        case "true": true
        case "false": false
        case .some: throw Failure(.invalidParameter, "The parameter \"\(name)\" must be true or false.")
        }
    }

    /// One of several words; `nil`: the parameter is not there.
    ///
    /// - Throws: `request.invalid_parameter` for another word.
    package func word<Word: RawRepresentable & CaseIterable>(_ name: String, _: Word.Type) throws(Failure) -> Word?
    where Word.RawValue == String {
        guard let text = values[name] else { return nil }
        guard let word = Word(rawValue: text) else {
            let words = Word.allCases.map(\.rawValue).joined(separator: ", ")
            throw Failure(.invalidParameter, "The parameter \"\(name)\" must be one of \(words).")
        }
        return word
    }
}
