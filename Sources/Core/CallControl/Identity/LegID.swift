/// The LegID: the number of a leg within its call, in the order in which the legs joined.
///
/// A number names one leg for the whole life of the call, although legs come and go. Users, media and notifications are
/// found by it. At a million legs per second the numbers last for 500,000 years, so that they are never used up.
package struct LegID: Hashable, Comparable, Sendable, CustomStringConvertible {
    /// The number: 0 is the caller, 1 the first callee.
    package let number: UInt64

    /// Makes a LegID of its number.
    package init(_ number: UInt64) { self.number = number }

    /// The leg of the user who started the call.
    package static let caller = LegID(0)
    /// The leg of the user who was called first.
    package static let callee = LegID(1)

    /// Whether `a` joined the call before `b`.
    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }

    /// `caller`, `callee`, or `leg` and the number; for logs.
    package var description: String {
        switch number {
        case 0: "caller"
        case 1: "callee"
        default: "leg \(number)"
        }
    }
}
