internal import Primitives

/// A registration as it outlives the process.
package struct StoredPushRegistration: Hashable, Sendable {
    /// What the device has registered.
    package var registration: PushRegistration
    /// The number of the account whose device it is: another account of the same address has another one. `nil`:
    /// unknown.
    package var account: Int64?
    /// When the device last registered, in milliseconds since 1970.
    package var time: UInt64

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(_ registration: PushRegistration, account: Int64?, time: UInt64) {
        self.registration = registration
        self.account = account
        self.time = time
    }
}

extension PushRegistration {
    /// What tells a device from all others at its provider.
    enum Mark: Hashable {
        case appleVoip(String)
        case appleStandard(String)
        case google(String)
        /// The URL is the app's, which its users share: it marks a device only together with the user and the name that
        /// the device has for itself.
        case webhook(url: String, user: String, correlator: String?)
    }

    /// The marks of the device. No two registrations have the same one.
    var marks: [Mark] {
        switch target {
        case .apple(let tokens):
            (tokens.voip.map { [.appleVoip($0.value.lowercased())] } ?? [])
                + (tokens.standard.map { [.appleStandard($0.value.lowercased())] } ?? [])
        case .google(let token): [.google(token.value)]
        case .webhook(let url): [.webhook(url: url, user: user, correlator: clientCorrelator)]
        }
    }

    /// Whether the device wants pushes of a service; the name is compared without case.
    package func wants(_ service: String) -> Bool {
        services.contains { $0.lowercased() == service.lowercased() }
    }

    /// Whether the device can be sent calls. Apple's service takes them for the VoIP token only.
    package var takesCalls: Bool {
        if case .apple(let tokens) = target { tokens.voip != nil } else { true }
    }

    /// Whether the device can be sent pushes that are no calls. Apple's service takes them for the standard token only.
    package var takesSilentPushes: Bool {
        if case .apple(let tokens) = target { tokens.standard != nil } else { true }
    }

    /// The same registration under another name.
    package func named(_ id: String) -> PushRegistration {
        var named = self
        named.id = id
        return named
    }
}
