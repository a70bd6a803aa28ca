package import CallControl
package import CallRuntime
import Cryptography
import GatewayAPI
package import Primitives

/// What a body wants to change about an application; what it does not name stays.
package struct ApplicationChange: Sendable {
    /// The fields of a change.
    package static let fields = [
        "displayName", "scopes", "addresses", "decisionTime", "fallback", "maximumCalls", "callsPerSecond", "streamURL",
        "maximumStreams",
    ]
    /// The fields of a new application.
    package static let newFields = ["name", "domain"] + fields

    private let displayName: String?
    private let scopes: Set<ApplicationScope>?
    private let addresses: [ApplicationAddress]?
    private let decisionTime: Duration?
    private let fallback: ApplicationFallback?
    private let maximumCalls: Int?
    /// `nil`: stays; `.some(nil)`: no limit.
    private let callsPerSecond: Int??
    /// `nil`: stays; `.some(nil)`: none.
    private let streamURL: WebSocketURL??
    /// `nil`: stays; `.some(nil)`: no limit.
    private let maximumStreams: Int??

    /// Reads a body.
    ///
    /// - Throws: `request.invalid_value`.
    package init(_ fields: BodyFields) throws(AdminError) {
        displayName = try fields.text("displayName")
        if let displayName { _ = try UserFile.displayName(displayName) }
        scopes = try Self.scopes(fields)
        addresses = try Self.addresses(fields)
        let times = RegisteredApplication.decisionTimes
        decisionTime = try fields.number(
            "decisionTime", in: times.lowerBound.wholeMilliseconds...times.upperBound.wholeMilliseconds
        ).map { .milliseconds($0) }
        fallback = try FallbackField.read("fallback", of: fields)
        maximumCalls = try Self.number("maximumCalls", fields, in: ApplicationProfile.callCounts)
        let rate = try Self.number("callsPerSecond", fields, in: ApplicationProfile.callRates)
        callsPerSecond = fields.has("callsPerSecond") ? .some(rate) : nil
        let url = try Self.streamURL(fields)
        streamURL = fields.has("streamURL") ? .some(url) : nil
        let streams = try Self.number("maximumStreams", fields, in: ApplicationProfile.streamCounts)
        maximumStreams = fields.has("maximumStreams") ? .some(streams) : nil
    }

    /// The URL; `nil`: there is none, since the field is not there, `null` or empty.
    private static func streamURL(_ fields: BodyFields) throws(AdminError) -> WebSocketURL? {
        guard let text = try fields.text("streamURL"), !text.isEmpty else { return nil }
        guard let url = WebSocketURL(parsing: text), WebSocketURL(parsing: url.text) == url else {
            throw fields.refusal(
                "streamURL",
                "must be a URL wss://host[:port]/path of at most \(WebSocketURL.maximumLength) bytes, whose host has "
                    + "at most \(WebSocketURL.maximumHostLength), without user and fragment")
        }
        return url
    }

    private static func number(
        _ name: String, _ fields: BodyFields, in range: ClosedRange<Int>
    ) throws(AdminError) -> Int? {
        try fields.number(name, in: Int64(range.lowerBound)...Int64(range.upperBound)).map { Int($0) }
    }

    private static func scopes(_ fields: BodyFields) throws(AdminError) -> Set<ApplicationScope>? {
        guard let texts = try fields.texts("scopes", atMost: ApplicationScope.allCases.count) else { return nil }
        var scopes: Set<ApplicationScope> = []
        for text in texts {
            guard let scope = ApplicationScope(rawValue: text) else {
                let words = ApplicationScope.allCases.map(\.rawValue).joined(separator: ", ")
                throw fields.refusal("scopes", "has \(text.prefix(64)); use \(words)")
            }
            scopes.insert(scope)
        }
        return scopes
    }

    private static func addresses(_ fields: BodyFields) throws(AdminError) -> [ApplicationAddress]? {
        guard let texts = try fields.texts("addresses", atMost: ApplicationProfile.addressLimit) else { return nil }
        var addresses: [ApplicationAddress] = []
        for text in texts {
            guard let address = ApplicationAddress(text) else {
                throw fields.refusal(
                    "addresses", "has \(text.prefix(64)), which is neither like bot@example.com nor *@example.com")
            }
            if !addresses.contains(address) { addresses.append(address) }
        }
        return addresses
    }

    /// Makes the change.
    package func apply(to profile: inout ApplicationProfile) {
        if let displayName { profile.displayName = displayName }
        if let scopes { profile.scopes = scopes }
        if let addresses { profile.addresses = addresses }
        if let decisionTime { profile.decisionTime = decisionTime }
        if let fallback { profile.fallback = fallback }
        if let maximumCalls { profile.maximumCalls = maximumCalls }
        if let callsPerSecond { profile.callsPerSecond = callsPerSecond }
        if let streamURL { profile.streamURL = streamURL }
        if let maximumStreams { profile.maximumStreams = maximumStreams }
    }

    /// What a new application may do unless the body names it: log users in if it has a domain, everything about calls
    /// if it has addresses.
    fileprivate func usualScopes(domain: String) -> Set<ApplicationScope> {
        var scopes: Set<ApplicationScope> = domain.isEmpty ? [] : [.usersLogin]
        if addresses?.isEmpty == false { scopes.formUnion([.callsRead, .callsWrite, .media, .recordings, .events]) }
        return scopes
    }
}

extension StoredApplication {
    /// The longest time for which a former secret may be accepted.
    package static let longestOverlap = Duration.seconds(30 * 86_400)

    /// What names of applications look like, for sentences.
    static let nameRule = "it has 1 to 64 letters, digits, \"-\", \"_\" and \".\""

    /// Makes an application of a body, with a secret of its own.
    ///
    /// - Throws: the codes `request.…`.
    package static func make(reading body: [UInt8], random: inout some RandomSource) throws(AdminError) -> Self {
        let fields = try BodyFields(parsing: body, known: Set(ApplicationChange.newFields))
        let text = try fields.requiredText("name")
        guard let name = ApplicationName(text) else {
            throw AdminError(.requestInvalidValue, "\(text.prefix(64)) is no name of an application; \(nameRule).")
        }
        let change = try ApplicationChange(fields)
        var domain = ""
        if let text = try fields.text("domain") {
            guard let usable = UserAddress(parsing: "user@" + text)?.domain else {
                throw AdminError(.requestInvalidValue, "\(text.prefix(64)) is no domain; write it like example.com.")
            }
            domain = String(usable)
        } else if !fields.has("addresses") {
            throw AdminError(
                .requestMissingField,
                "The field \"domain\" is missing, whose users it may log in, or \"addresses\", at which it is called.")
        }
        var profile = ApplicationProfile()
        profile.scopes = change.usualScopes(domain: domain)
        change.apply(to: &profile)
        return StoredApplication(name: name, domain: domain, secret: makeSecret(random: &random), profile: profile)
    }

    /// The application as the administration interface shows it, in JSON.
    package var shown: [UInt8] { AdminJSON.encode(ApplicationField(self)) }

    /// Draws a secret: 256 random bits, as 64 hexadecimal digits.
    package static func makeSecret(random: inout some RandomSource) -> Redacted<String> {
        Redacted(random.nextBytes(32).hexadecimal)
    }
}

extension ApplicationKey {
    /// What is stored of the key.
    package var digest: [UInt8] { Digest.sha256.hash(Array(text.value.utf8)) }

    /// Makes a key, and what is stored beside its digest.
    ///
    /// - Parameters:
    ///   - expiresAt: milliseconds since 1970; `nil`: never.
    ///   - now: milliseconds since 1970.
    ///   - maker: who makes it, for the record.
    package static func make(
        of application: ApplicationName, expiresAt: Int64?, at now: Int64, by maker: String,
        random: inout some RandomSource
    ) -> (key: ApplicationKey, stored: StoredApplicationKey) {
        let key = ApplicationKey(random: &random)
        let stored = StoredApplicationKey(
            id: random.nextBytes(6).hexadecimal, application: application, ending: key.ending, createdAt: now,
            createdBy: maker, expiresAt: expiresAt)
        return (key, stored)
    }
}

/// An application as it is shown.
struct ApplicationField: Encodable, Equatable, Sendable {
    var name: String
    /// `nil`: it may log nobody in.
    var domain: String?
    var displayName: String
    var scopes: [String]
    var addresses: [String]
    var decisionTime: Int64
    var fallback: FallbackField
    var maximumCalls: Int
    var callsPerSecond: Int?
    var streamURL: String?
    var maximumStreams: Int?
    /// Until when the former secret is accepted.
    var formerSecretUntil: Int64?
    /// The key of its signatures, once.
    var secret: String?

    init(_ application: StoredApplication, showsSecret: Bool = false) {
        let profile = application.profile
        name = application.name.description
        domain = application.domain.isEmpty ? nil : application.domain
        displayName = profile.displayName
        scopes = profile.scopes.map(\.rawValue).sorted()
        addresses = profile.addresses.map(\.description)
        decisionTime = profile.decisionTime.wholeMilliseconds
        fallback = FallbackField(profile.fallback)
        maximumCalls = profile.maximumCalls
        callsPerSecond = profile.callsPerSecond
        streamURL = profile.streamURL?.text
        maximumStreams = profile.maximumStreams
        formerSecretUntil = application.formerSecret?.expiresAt
        secret = showsSecret ? application.secret.value : nil
    }
}

/// A key of an application as it is shown.
struct ApplicationKeyField: Encodable, Equatable, Sendable {
    var id: String
    var application: String
    var ending: String
    var createdAt: Int64
    var createdBy: String
    var expiresAt: Int64?
    /// The key itself, once.
    var key: String?

    init(_ stored: StoredApplicationKey, key: String? = nil) {
        id = stored.id
        application = stored.application.description
        ending = stored.ending
        createdAt = stored.createdAt
        createdBy = stored.createdBy
        expiresAt = stored.expiresAt
        self.key = key
    }
}
