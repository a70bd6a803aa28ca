/// One end of a call: a user, the user's `sessionData`, and the devices that have been told of it.
package struct CallParty: Equatable, Sendable {
    package var user: UserAddress
    /// Shown to the other end.
    package var name: String
    /// Shared by the devices of a user (spidr-wire §6.2).
    package var session: SessionID
    /// Only subscriptions that know the session may be told anything about it (spidr-wire §6.6).
    package internal(set) var devices: [Device]

    package init(user: UserAddress, name: String, session: SessionID, devices: [Device]) {
        self.user = user
        self.name = name
        self.session = session
        self.devices = devices
    }
}
