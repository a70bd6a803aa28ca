internal import CallControl
internal import MediaPlane
internal import Primitives
internal import SDP
internal import Sockets

/// One call on its worker: its legs and the bridge between them.
///
/// Confined to its worker's thread; a debug build asserts it.
final class MediaCall {
    let id: CallID
    var bridge: Bridge
    /// The audio engine; `nil` while no audio is decoded or made by the gateway.
    var audio: AudioEngine?
    /// The DTMF digits that its peers press.
    var digits = HeardDigits()
    /// When programs on streams are heard next; `nil` with an audio engine, or without streams.
    var nextStreamCycle: MonotonicTime?
    /// When quality is measured next; `nil` before a leg has SRTP keys.
    var nextMeasurement: MonotonicTime?
    /// The legs by their index in the bridge; `nil` where an index is free.
    private var places: [MediaLeg?] = [] {
        didSet { legs = places.compactMap(\.self) }
    }
    /// The legs that are present, in the order of their indices; stored, because every audio cycle iterates over them.
    private(set) var legs: [MediaLeg] = []

    /// The headless legs. They are not among `legs`.
    private(set) var headlessLegs: [HeadlessLeg] = []

    let owner = OwnerThread()

    init(id: CallID, bridge: Bridge) {
        self.id = id
        self.bridge = bridge
    }

    private func assertOwner() { assert(owner.isCurrent, "a call is used on its worker's thread") }

    func leg(_ index: LegIndex) -> MediaLeg? {
        assertOwner()
        let place = Int(index.rawValue)
        return place < places.count ? places[place] : nil
    }

    /// One of the transports of a leg; `nil` if it does not exist.
    func leg(_ index: LegIndex, over transport: TransportNumber) -> MediaLeg? {
        let first = leg(index)
        return transport == .first ? first : first?.further.first { $0.transport == transport }
    }

    func leg(_ name: LegID) -> MediaLeg? {
        assertOwner()
        for case let leg? in places where leg.name == name { return leg }
        return nil
    }

    func headlessLeg(_ name: LegID) -> HeadlessLeg? {
        assertOwner()
        return headlessLegs.first { $0.name == name }
    }

    /// A leg of either kind.
    func hearingLeg(_ name: LegID) -> (any HearingLeg)? { leg(name) ?? headlessLeg(name) }

    /// The legs of both kinds.
    var hearingLegs: [any HearingLeg] { legs + headlessLegs }

    func install(_ leg: HeadlessLeg) {
        assertOwner()
        headlessLegs.append(leg)
    }

    func remove(_ leg: HeadlessLeg) {
        assertOwner()
        headlessLegs.removeAll { $0 === leg }
    }

    func install(_ leg: MediaLeg) {
        assertOwner()
        let place = Int(leg.index.rawValue)
        while places.count <= place { places.append(nil) }
        places[place] = leg
    }

    func remove(_ leg: MediaLeg) {
        assertOwner()
        for place in places.indices where places[place] === leg { places[place] = nil }
        digits.forget(leg.index)
    }

    var nextDeadline: MonotonicTime? {
        assertOwner()
        var earliest = bridge.nextDeadline?.time
        for due in [audio?.nextCycle, nextStreamCycle, nextMeasurement, digits.nextDeadline] {
            if let due { earliest = min(earliest ?? due, due) }
        }
        for case let leg? in places {
            guard let deadline = leg.nextDeadline else { continue }
            earliest = min(earliest ?? deadline, deadline)
        }
        return earliest
    }
}
