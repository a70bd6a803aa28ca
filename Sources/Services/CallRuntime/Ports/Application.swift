package import CallControl

/// An application inside the gateway, which is called by its address like a user. It answers each call at once.
package struct Application: Equatable, Sendable {
    /// The address; it comes before a user of the same address.
    package var address: UserAddress
    /// The display name.
    package var displayName: String
    /// The audio that the other legs of its calls hear.
    package var source: HeadlessSource

    /// Makes an application of its parts; each parameter is the property of that name.
    package init(address: UserAddress, displayName: String, source: HeadlessSource) {
        self.address = address
        self.displayName = displayName
        self.source = source
    }
}
