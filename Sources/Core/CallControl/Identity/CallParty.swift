/// What a call knows of a user or an application: the address, the name of the leg, and who hears it.
package struct CallParty: Equatable, Sendable {
    /// The address of the user.
    package var user: UserAddress
    /// The number that the other leg is shown; `nil`: the address.
    package var shownNumber: String?
    /// The display name, shown to the other leg.
    package var name: String
    /// The name of the leg towards its user, shared by the user's devices (spidr-wire §6.2).
    package var session: SessionID
    /// Who hears the leg.
    package internal(set) var endpoint: LegEndpoint
    /// The devices of the user that are asleep, and are woken once the leg rings.
    package var sleeping: [SleepingDevice] = []
    /// The subscriptions of the user that are told how good the audio of the leg is, even if another device has the
    /// call.
    package internal(set) var qualityReceivers: [SubscriptionID] = []
    /// How long an application that is rung may take to decide about the call, in milliseconds, 1 or more; `nil`:
    /// nobody is asked.
    package var decisionMilliseconds: Int?
    /// The trace of the request that made the party's leg; `nil`: it is part of none.
    package var trace: TraceContext?

    /// Makes a party of its parts; each parameter is the property of that name. It is shown by its address.
    package init(user: UserAddress, name: String, session: SessionID, endpoint: LegEndpoint) {
        self.user = user
        self.name = name
        self.session = session
        self.endpoint = endpoint
    }

    /// Makes the party of a user with these devices; the other parameters are the properties of those names.
    package init(user: UserAddress, name: String, session: SessionID, devices: [Device]) {
        self.init(user: user, name: name, session: session, endpoint: .devices(devices))
    }

    /// The subscriptions that know the session; only they may be told anything about it (spidr-wire §6.6). An
    /// application has none, and is given none.
    package internal(set) var devices: [Device] {
        get { if case .devices(let devices) = endpoint { devices } else { [] } }
        set { if case .devices = endpoint { endpoint = .devices(newValue) } }
    }

    /// The application whose leg it is; `nil`: it is a user's, or the gateway's own.
    var application: ApplicationIdentity? { if case .application(_, let identity) = endpoint { identity } else { nil } }

    /// Whose the leg is.
    var holder: LegHolder { application.map { .application($0) } ?? .user(user) }

    /// How the party is shown to others: by name and address.
    var shown: DisplayName { DisplayName(name: name, number: shownNumber ?? user.text) }
}
