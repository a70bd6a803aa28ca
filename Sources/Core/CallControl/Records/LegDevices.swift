/// The devices that have known a leg, in the order in which they were told. A device is found in the same time among
/// any number of others.
package struct LegDevices: Equatable, Sendable {
    /// Up to so many are looked through; that is faster than a table, and takes no memory.
    private static let few = 8

    /// All of them, in order; none twice.
    package private(set) var all: [Device]
    /// Where each is; empty while there are few.
    private var places: [SubscriptionID: Int] = [:]

    /// Makes a list of devices.
    ///
    /// - Parameter all: none of them twice.
    package init(_ all: [Device] = []) {
        self.all = all
        if all.count > Self.few { keepPlaces() }
    }

    /// Where a device is in `all`; `nil`: it has not known the leg.
    package func place(of device: SubscriptionID) -> Int? {
        all.count > Self.few ? places[device] : all.firstIndex { $0.subscription == device }
    }

    /// The one device that says itself when it rings; `nil`: none does, or several do.
    package var onlyOneThatRings: SubscriptionID? {
        let candidates = all.lazy.filter(\.sendsRingingFeedback).prefix(2)
        return candidates.count == 1 ? candidates.first?.subscription : nil
    }

    /// Adds a device, unless it is there.
    ///
    /// - Returns: its place.
    @discardableResult
    package mutating func add(_ device: Device) -> Int {
        if let place = place(of: device.subscription) { return place }
        all.append(device)
        if all.count == Self.few + 1 {
            keepPlaces()
        } else if all.count > Self.few {
            places[device.subscription] = all.count - 1
        }
        return all.count - 1
    }

    /// A device has a new subscription, and keeps its place; if one with the new one is there, nothing happens.
    package mutating func replace(_ former: SubscriptionID, with device: SubscriptionID) {
        guard let place = place(of: former), self.place(of: device) == nil else { return }
        all[place].subscription = device
        if all.count > Self.few { (places[former], places[device]) = (nil, place) }
    }

    private mutating func keepPlaces() {
        for (place, device) in all.enumerated() { places[device.subscription] = place }
    }
}
