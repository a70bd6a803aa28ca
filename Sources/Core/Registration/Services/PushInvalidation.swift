package import CallControl

/// A registration for push that has ended because its device cannot be reached any more (spidr-wire §11).
package struct PushInvalidation: Hashable, Sendable, Codable {
    /// The name of the registration.
    package var device: PushDeviceID
    /// The provider by its name in paths, such as `apple`.
    package var provider: String
    /// The app.
    package var bundleID: String
    /// The device's name for itself; `nil`: it has none.
    package var clientCorrelator: String?
    /// The provider's word for the reason.
    package var reason: String

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(
        device: PushDeviceID, provider: String, bundleID: String, clientCorrelator: String?, reason: String
    ) {
        self.device = device
        self.provider = provider
        self.bundleID = bundleID
        self.clientCorrelator = clientCorrelator
        self.reason = reason
    }
}
