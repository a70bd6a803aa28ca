/// A display name in two parts, as clients of the protocol show it.
package struct PersonName: Equatable, Sendable {
    /// Everything before the last space; the whole name if there is none.
    package let first: String
    /// What follows the last space; empty if there is none.
    package let last: String

    /// Divides a display name.
    package init(_ displayName: String) {
        guard let space = displayName.lastIndex(of: " ") else {
            (first, last) = (displayName, "")
            return
        }
        first = String(displayName[..<space])
        last = String(displayName[displayName.index(after: space)...])
    }
}
