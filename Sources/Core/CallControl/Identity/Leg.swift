/// One end of a call, by the order in which the ends joined it.
///
/// A number names one end for the whole life of the call, although ends come and go: users, media and notifications are found by it.
/// At a million ends per second the numbers last for 500,000 years, so that they are never used up.
package struct Leg: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let number: UInt64

    package init(_ number: UInt64) { self.number = number }

    /// Who started the call.
    package static let caller = Leg(0)
    /// Who was called at first.
    package static let callee = Leg(1)

    package static func < (a: Self, b: Self) -> Bool { a.number < b.number }

    package var description: String {
        switch number {
        case 0: "caller"
        case 1: "callee"
        default: "leg \(number)"
        }
    }
}
