/// The name of a device that can be reached by push: the last segment of the path of its registration (spidr-wire §11).
package struct PushDeviceID: Hashable, Sendable {
    /// The name as a text.
    package let rawValue: String

    /// Takes a text as a name.
    package init(_ rawValue: String) { self.rawValue = rawValue }
}

extension PushDeviceID: SingleValueCodable {
    /// The raw value.
    package var plain: String { rawValue }
}

/// A device that a push can wake, so that it subscribes and rings.
package struct SleepingDevice: Hashable, Sendable, Codable {
    /// The name of the device.
    package var id: PushDeviceID
    /// The device's name for itself, which its subscriptions have, too; `nil`: it has none, so that it is not known
    /// which subscription is this device's.
    package var clientCorrelator: String?

    /// Makes a device of its parts; each parameter is the property of that name.
    package init(_ id: PushDeviceID, clientCorrelator: String?) {
        self.id = id
        self.clientCorrelator = clientCorrelator
    }
}
