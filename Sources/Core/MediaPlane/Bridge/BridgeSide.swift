/// One of the two legs of a call.
package enum BridgeSide: Hashable, Sendable, CaseIterable {
    case a
    case b

    package var other: Self { self == .a ? .b : .a }
}
