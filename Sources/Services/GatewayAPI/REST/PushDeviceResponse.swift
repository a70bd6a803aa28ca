import Primitives
package import Push
import SPiDR

/// `appleDeviceRegistrationResponse` and its like: the answer to every request about registrations for push that
/// succeeds (spidr-wire §11.1).
package struct PushDeviceResponse: Codable, Equatable, Sendable {
    /// The provider, which names the top-level key.
    package var provider: PushProvider
    /// The members.
    package var content: Content

    /// The members below the wrapper.
    package struct Content: Codable, Equatable, Sendable {
        /// Always 0, success (spidr-wire §1.6).
        package var statusCode = 0
        /// On `POST` and `PUT`: the path of the registration.
        package var registration: String?
        /// On `GET`: the registrations, the oldest first.
        package var devices: [PushDeviceField]?
    }

    /// Makes the answer to `POST` and `PUT`.
    package init(_ provider: PushProvider, registration path: String) {
        self.provider = provider
        content = Content(registration: path)
    }

    /// Makes the answer to `GET`.
    package init(_ provider: PushProvider, devices: [PushDeviceField]) {
        self.provider = provider
        content = Content(devices: devices)
    }

    /// Makes the answer to `DELETE`.
    package init(_ provider: PushProvider) {
        self.provider = provider
        content = Content()
    }

    /// The top-level key of the answers about a provider's registrations.
    package static func wrapper(_ provider: PushProvider) -> String { "\(provider.rawValue)DeviceRegistrationResponse" }

    /// Reads an answer, as a client does.
    ///
    /// - Throws: `DecodingError` if the top-level key is none of a provider, or a member has the wrong type.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: WireKey.self)
        let found = PushProvider.allCases.first { fields.contains(WireKey(Self.wrapper($0))) }
        provider = found ?? .apple
        content = try fields.decode(Content.self, forKey: WireKey(Self.wrapper(provider)))
    }

    /// Writes the members below the wrapper.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: WireKey.self)
        try fields.encode(content, forKey: WireKey(Self.wrapper(provider)))
    }
}

/// A registration in a list. Tokens are not shown whole, so that a list is of no use to whoever sees it.
package struct PushDeviceField: Codable, Equatable, Sendable {
    /// The path of the registration.
    package var registration: String
    /// The app.
    package var bundleID: String
    /// The services that the device wants pushes of.
    package var service: [String]
    /// The device's name for itself; `nil`: it has none.
    package var clientCorrelator: String?
    /// The realm.
    package var realm: String
    /// Apple: whether the tokens are of the production environment.
    package var isProduction: Bool?
    /// Apple: the first characters of the token for VoIP pushes.
    package var voipDeviceToken: String?
    /// Apple: the first characters of the token for other pushes.
    package var standardDeviceToken: String?
    /// Google: the first characters of the registration token.
    package var deviceToken: String?
    /// Webhook: the URL, of which the path is not shown.
    package var url: String?
    /// When the device last registered, milliseconds since 1970.
    package var time: UInt64

    /// Describes a registration.
    ///
    /// - Parameter path: the path of the registration.
    package init(_ stored: StoredPushRegistration, path: String) {
        let registration = stored.registration
        self.registration = path
        bundleID = registration.bundleID
        service = registration.services
        clientCorrelator = registration.clientCorrelator
        realm = registration.realm
        time = stored.time
        switch registration.target {
        case .apple(let tokens):
            isProduction = tokens.isProduction
            voipDeviceToken = tokens.voip.map { Self.shortened($0.value) }
            standardDeviceToken = tokens.standard.map { Self.shortened($0.value) }
        case .google(let token): deviceToken = Self.shortened(token.value)
        case .webhook(let url): self.url = Self.host(of: url)
        }
    }

    /// The first four characters of a token; none of a short one.
    package static func shortened(_ token: String) -> String { (token.count < 12 ? "" : token.prefix(4)) + "…" }

    /// A URL without its path, which may have a secret in it.
    package static func host(of url: String) -> String {
        let scheme = "https://"
        return scheme + url.dropFirst(scheme.count).prefix { !"/?#".contains($0) } + "/…"
    }
}
