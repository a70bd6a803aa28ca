/// An application as a principal: its name, and a number that no other application has or had. An application that is
/// removed and made again under the same name is another one, with nothing of the former (docs/adr/0019).
package struct ApplicationIdentity: Hashable, Sendable, CustomStringConvertible {
    /// The name, unique among the applications that there are at a time.
    package let name: ApplicationName
    /// The number, drawn when the application was made: 1 to 2^53 - 1. 0: an application of the gateway itself, which
    /// is in no database, or one that has not been stored yet.
    package let number: Int64

    /// Makes an identity of its parts; each parameter is the property of that name.
    package init(name: ApplicationName, number: Int64) {
        self.name = name
        self.number = number
    }

    /// Reads what ``description`` writes; `nil` if the text is not that.
    package init?(_ text: String) {
        let parts = text.split(separator: "#", omittingEmptySubsequences: false)
        guard parts.count == 2, let name = ApplicationName(String(parts[0])), let number = Int64(parts[1]), number >= 0
        else { return nil }
        self.init(name: name, number: number)
    }

    /// The name and the number: `bot#4711`. No name has a `#`.
    package var description: String { "\(name)#\(number)" }
}
