/// One end of a call, by the order in which the ends joined it; numbers are not used twice in a call.
package struct Leg: Hashable, Comparable, Sendable, CustomStringConvertible {
    package let number: UInt8

    package init(_ number: UInt8) { self.number = number }

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
