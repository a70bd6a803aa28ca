package import Primitives
package import Push

/// The body with which a device registers for push (spidr-wire §11.1). It usually stands without a wrapper.
package struct PushDeviceRequest: WireObject, Equatable {
    /// The top-level key under which the value is written, if it is written under one.
    package static let wrapper = "appleDeviceRegistrationRequest"
    /// The keys under which it may be received.
    package static let acceptedWrappers = [
        wrapper, "googleDeviceRegistrationRequest", "webhookDeviceRegistrationRequest",
    ]

    /// The app: its bundle identifier or package name.
    package var bundleID: String?
    /// The services that the device wants pushes of; `nil`: `call`.
    package var service: [String]?
    /// The device's name for itself; `nil` or empty: it has none.
    package var clientCorrelator: String?
    /// The realm; `nil`: `default`.
    package var realm: String?
    /// Apple: whether the tokens are of the production environment; `nil`: no.
    package var isProduction: Bool?
    /// Apple: the token for VoIP pushes; `nil`: there is none.
    package var voipDeviceToken: Redacted<String>?
    /// Apple: the token for other pushes; `nil`: there is none.
    package var standardDeviceToken: Redacted<String>?
    /// Google: the registration token.
    package var deviceToken: Redacted<String>?
    /// Webhook: the URL of the app's own push service.
    package var url: String?

    /// Makes a request without any field.
    package init() {}

    fileprivate enum CodingKeys: String, CodingKey {
        case bundleID, service, clientCorrelator, realm, isProduction, voipDeviceToken, standardDeviceToken
        case deviceToken, url
    }

    /// Reads a request. `isProduction` may come as a string, and `service` as a single name (spidr-wire §1.3).
    ///
    /// - Throws: `DecodingError` if a field has the wrong type.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try fields.decodeIfPresent(String.self, forKey: key) }
        bundleID = try text(.bundleID)
        do {
            service = try fields.decodeIfPresent([String].self, forKey: .service)
        } catch DecodingError.typeMismatch {
            service = [try fields.decode(String.self, forKey: .service)]
        }
        clientCorrelator = try text(.clientCorrelator)
        realm = try text(.realm)
        isProduction = try fields.decodeLenientBoolean(forKey: .isProduction)
        voipDeviceToken = try text(.voipDeviceToken).map { Redacted($0) }
        standardDeviceToken = try text(.standardDeviceToken).map { Redacted($0) }
        deviceToken = try text(.deviceToken).map { Redacted($0) }
        url = try text(.url)
    }

    /// Writes the fields that are there.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var fields = encoder.container(keyedBy: CodingKeys.self)
        try fields.encodeIfPresent(bundleID, forKey: .bundleID)
        try fields.encodeIfPresent(service, forKey: .service)
        try fields.encodeIfPresent(clientCorrelator, forKey: .clientCorrelator)
        try fields.encodeIfPresent(realm, forKey: .realm)
        try fields.encodeIfPresent(isProduction, forKey: .isProduction)
        try fields.encodeIfPresent(voipDeviceToken?.value, forKey: .voipDeviceToken)
        try fields.encodeIfPresent(standardDeviceToken?.value, forKey: .standardDeviceToken)
        try fields.encodeIfPresent(deviceToken?.value, forKey: .deviceToken)
        try fields.encodeIfPresent(url, forKey: .url)
    }
}

extension PushDeviceRequest {
    private static let serviceLimit = 16
    /// The most bytes of `clientCorrelator`, of `realm`, and of a service.
    private static let textLimit = 255

    /// The registration that the request asks for.
    ///
    /// - Parameters:
    ///   - id: the name of the registration; empty: it has none yet.
    ///   - user: the address of the user.
    ///   - provider: the provider in the path.
    /// - Throws: the first fault that is found; it names the field.
    package func registration(_ id: String, of user: String, with provider: PushProvider) throws(RequestFault)
        -> PushRegistration
    {
        guard let bundleID else { throw .missing(fields: ["bundleID"], reason: "it names the app") }
        let services = service ?? ["call"]
        guard (1...Self.serviceLimit).contains(services.count) else {
            throw .unusable(field: "service", reason: "must have 1 to \(Self.serviceLimit) names")
        }
        for text in services { try Self.check(text, "service") }
        let correlator = clientCorrelator.flatMap { $0.isEmpty ? nil : $0 }
        if let correlator { try Self.check(correlator, "clientCorrelator") }
        let realm = realm ?? "default"
        try Self.check(realm, "realm")
        let destination = try target(provider)
        do throws(PushRegistrationError) {
            return try PushRegistration(
                id: id, user: user, bundleID: bundleID, realm: realm, services: services, clientCorrelator: correlator,
                target: destination)
        } catch {
            switch error {
            case .noAppleToken: throw Self.missing(.appleToken(.voip), .appleToken(.standard))
            case .unusable(let part): throw .unusable(field: part.wireName, reason: Self.rule(of: part))
            }
        }
    }

    private func target(_ provider: PushProvider) throws(RequestFault) -> PushRegistration.Target {
        switch provider {
        case .apple:
            return .apple(
                PushRegistration.AppleTokens(
                    voip: voipDeviceToken, standard: standardDeviceToken, isProduction: isProduction ?? false))
        case .google:
            guard let deviceToken else { throw Self.missing(.googleToken) }
            return .google(token: deviceToken)
        case .webhook:
            guard let url else { throw Self.missing(.url) }
            return .webhook(url: url)
        }
    }

    private static func check(_ text: String, _ field: String) throws(RequestFault) {
        guard (1...textLimit).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else {
            throw .unusable(field: field, reason: "must have 1 to \(textLimit) bytes without control characters")
        }
    }

    /// The fault where none of these parts is there, one of which would do.
    private static func missing(_ parts: PushRegistration.Part...) -> RequestFault {
        .missing(fields: parts.map(\.wireName), reason: "pushes go to it")
    }

    private static func rule(of part: PushRegistration.Part) -> String {
        switch part {
        case .bundleID: "must be 1 to 155 letters, digits, \"-\", \"_\" and \".\""
        case .appleToken: "must be 1 to 200 hexadecimal digits"
        case .googleToken: "must be 1 to 4096 visible ASCII characters"
        case .url: "must be an https: URL of at most 2048 visible ASCII characters"
        }
    }
}

extension PushRegistration.Part {
    /// The field of the request that has the part.
    package var wireName: String { key.rawValue }

    private var key: PushDeviceRequest.CodingKeys {
        switch self {
        case .bundleID: .bundleID
        case .appleToken(.voip): .voipDeviceToken
        case .appleToken(.standard): .standardDeviceToken
        case .googleToken: .deviceToken
        case .url: .url
        }
    }
}
