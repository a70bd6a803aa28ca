/// A leg of a bridge, by its place. The place becomes free when the leg leaves.
package struct LegIndex: Hashable, Sendable, CustomStringConvertible {
    /// The place, 0 ..< `Bridge.maximumLegs`.
    package let rawValue: UInt8

    /// Makes an index.
    ///
    /// - Parameter place: The place, 0 ..< `Bridge.maximumLegs`.
    package init(_ place: Int) { rawValue = UInt8(place) }

    /// The place in decimal digits, for the log.
    package var description: String { "\(rawValue)" }

    var place: Int { Int(rawValue) }
}
