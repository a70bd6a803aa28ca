/// A leg of a bridge, by its place; the place is free again once the leg has left.
package struct LegIndex: Hashable, Sendable, CustomStringConvertible {
    package let rawValue: UInt8

    /// - Parameter place: 0 ..< `Bridge.maximumLegs`.
    package init(_ place: Int) { rawValue = UInt8(place) }

    package var description: String { "\(rawValue)" }

    var place: Int { Int(rawValue) }
}
