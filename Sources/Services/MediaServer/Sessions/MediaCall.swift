internal import CallControl
internal import MediaPlane
internal import Primitives
internal import SDP

/// One call on its worker: its legs and the bridge between them.
///
/// Confined to its worker's thread; a debug build asserts it.
final class MediaCall {
    let id: CallID
    var bridge: Bridge
    /// The audio engine; `nil` while no audio is decoded or made by the gateway.
    var audio: AudioEngine?
    /// When quality is measured next; `nil` before a leg has SRTP keys.
    var nextMeasurement: MonotonicTime?
    /// The legs by their index in the bridge; `nil` where an index is free.
    private var places: [MediaLeg?] = [] {
        didSet { legs = places.compactMap(\.self) }
    }
    /// The legs that are present, in the order of their indices; stored, because every audio cycle iterates over them.
    private(set) var legs: [MediaLeg] = []

    init(id: CallID, bridge: Bridge) {
        self.id = id
        self.bridge = bridge
    }

    func leg(_ index: LegIndex) -> MediaLeg? {
        let place = Int(index.rawValue)
        return place < places.count ? places[place] : nil
    }

    /// One of the transports of a leg; `nil` if it does not exist.
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
