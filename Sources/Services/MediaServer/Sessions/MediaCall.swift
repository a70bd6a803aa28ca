internal import CallControl
internal import MediaPlane
internal import Primitives
internal import SDP

/// One call on its worker: its legs and the bridge between them.
///
/// Confined to its worker's thread.
final class MediaCall {
    let id: CallID
    var bridge: Bridge
    /// While something is decoded or made here.
    var audio: AudioEngine?
    /// When quality is measured next; `nil` before a leg has keys.
    var nextMeasurement: MonotonicTime?
    /// By their place in the bridge.
    private var places: [MediaLeg?] = [] {
        didSet { legs = places.compactMap(\.self) }
    }
    /// Those that are there; kept, because every cycle of audio looks at them.
    private(set) var legs: [MediaLeg] = []

    init(id: CallID, bridge: Bridge) {
        self.id = id
        self.bridge = bridge
    }

    func leg(_ index: LegIndex) -> MediaLeg? {
        let place = Int(index.rawValue)
        return place < places.count ? places[place] : nil
    }

    /// One of a leg's transports.
    func leg(_ index: LegIndex, over transport: TransportNumber) -> MediaLeg? {
        let first = leg(index)
        return transport == .first ? first : first?.further.first { $0.transport == transport }
    }

    func leg(_ name: Leg) -> MediaLeg? {
        for case let leg? in places where leg.name == name { return leg }
        return nil
    }

    func install(_ leg: MediaLeg) {
        let place = Int(leg.index.rawValue)
        while places.count <= place { places.append(nil) }
        places[place] = leg
    }

    func remove(_ leg: MediaLeg) {
        for place in places.indices where places[place] === leg { places[place] = nil }
    }

    var nextDeadline: MonotonicTime? {
        var earliest = bridge.nextDeadline?.time
        for due in [audio?.nextCycle, nextMeasurement] {
            if let due { earliest = min(earliest ?? due, due) }
        }
        for case let leg? in places {
            guard let deadline = leg.nextDeadline else { continue }
            earliest = min(earliest ?? deadline, deadline)
        }
        return earliest
    }
}
