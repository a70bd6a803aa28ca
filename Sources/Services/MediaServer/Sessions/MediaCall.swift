internal import CallControl
internal import MediaPlane
internal import Primitives

/// One call on its worker: two legs and the bridge between them.
///
/// Confined to its worker's thread.
final class MediaCall {
    let id: CallID
    var bridge: Bridge
    private(set) var caller: MediaLeg?
    private(set) var callee: MediaLeg?

    init(id: CallID, bridge: Bridge) {
        self.id = id
        self.bridge = bridge
    }

    func leg(_ side: BridgeSide) -> MediaLeg? {
        switch side {
        case .a: caller
        case .b: callee
        }
    }

    func install(_ leg: MediaLeg) {
        switch leg.side {
        case .a: caller = leg
        case .b: callee = leg
        }
    }

    var legs: [MediaLeg] { [caller, callee].compactMap(\.self) }

    var nextDeadline: MonotonicTime? {
        (legs.map(\.nextDeadline) + [bridge.nextDeadline?.time]).compactMap(\.self).min()
    }
}

extension BridgeSide {
    init(_ leg: Leg) {
        self =
            switch leg {
            case .caller: .a
            case .callee: .b
            }
    }

    var leg: Leg {
        switch self {
        case .a: .caller
        case .b: .callee
        }
    }
}
