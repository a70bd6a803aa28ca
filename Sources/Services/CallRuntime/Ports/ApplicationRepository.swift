package import CallControl
package import Primitives

/// The applications: those that log users in (spidr-wire §2, *Application token*) with the tokens that they have got,
/// and those that have calls, with their keys. Implemented by `Storage`. Every function throws `StorageError.failed` if
/// the database refuses.
package protocol ApplicationRepository: Sendable {
    /// The application of this name; `nil` if there is none.
    func application(_ name: ApplicationName) async throws(StorageError) -> StoredApplication?
    /// The application of a key, and the key; `nil` if there is no such key. The key may have expired.
    ///
    /// - Parameter digest: SHA-256 of the key.
    func application(
        ofKey digest: [UInt8]
    ) async throws(StorageError) -> (application: StoredApplication, key: StoredApplicationKey)?
    /// All applications, in the order of their names.
    func allApplications() async throws(StorageError) -> [StoredApplication]
    /// Adds an application, and gives it a number that none has had, unless it has one.
    ///
    /// - Throws: `applicationExists` if the name is taken, `applicationAddressTaken` if an address is.
    func add(_ application: StoredApplication) async throws(StorageError)
    /// Changes an application; no other change comes between.
    ///
    /// - Parameter edit: makes the change.
    /// - Returns: the application as it is now.
    /// - Throws: `noSuchApplication`, `applicationAddressTaken`.
    func change(
        _ name: ApplicationName, _ edit: @escaping @Sendable (inout ApplicationProfile) -> Void
    ) async throws(StorageError) -> StoredApplication
    /// Replaces the secret of an application. Tokens that it has got stay valid.
    ///
    /// - Parameter end: until when the former secret is accepted as well, milliseconds since 1970; `nil`: not at all.
    /// - Throws: `noSuchApplication`.
    func setSecret(
        _ secret: Redacted<String>, of name: ApplicationName, keepingFormerUntil end: Int64?
    ) async throws(StorageError)
    /// Removes an application, its keys, its tokens, its webhooks and its idempotency keys. Its recordings are nobody's
    /// from then on. Subscriptions that were made with the tokens go on.
    ///
    /// - Throws: `noSuchApplication`.
    func remove(_ name: ApplicationName) async throws(StorageError)

    /// The keys of an application, the oldest first.
    func keys(of name: ApplicationName) async throws(StorageError) -> [StoredApplicationKey]
    /// Adds a key.
    ///
    /// - Parameter digest: SHA-256 of the key.
    /// - Returns: whether it was added; `false`: the application has as many as it may have.
    /// - Throws: `noSuchApplication`.
    func add(
        _ key: StoredApplicationKey, digest: [UInt8], of name: ApplicationName
    ) async throws(StorageError) -> Bool
    /// Removes a key.
    ///
    /// - Returns: the key; `nil`: the application has none of this name.
    func removeKey(_ id: String, of name: ApplicationName) async throws(StorageError) -> StoredApplicationKey?

    /// Keeps a token. Tokens of the application that expired before `now` are forgotten, and the oldest if it has more
    /// than `limit`.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: `noSuchApplication`, or `noSuchUser`, if either is gone.
    func keep(
        _ token: ApplicationToken, of application: ApplicationIdentity, limit: Int, at now: Int64
    ) async throws(StorageError)
    /// Takes a token of this user out: nobody gets it a second time. A token of another user stays where it is.
    ///
    /// - Parameter digest: SHA-256 of the token.
    /// - Returns: when the token expires, or has expired, in seconds since 1970; `nil`: there is no such token.
    func take(_ digest: [UInt8], of user: UserAddress) async throws(StorageError) -> Int64?
}

/// An application, as stored.
package struct StoredApplication: Equatable, Sendable {
    /// A secret that was replaced, and is accepted for a time, so that no request fails while the new one is spread.
    package struct FormerSecret: Equatable, Sendable {
        /// The secret.
        package var secret: Redacted<String>
        /// Until when it is accepted, milliseconds since 1970.
        package var expiresAt: Int64

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(secret: Redacted<String>, expiresAt: Int64) {
            self.secret = secret
            self.expiresAt = expiresAt
        }
    }

    /// The name in the path of its requests, `{adapter}` in spidr-wire §2; unique.
    package var name: ApplicationName
    /// The number in its ``identity``; 0: it is given one when it is added.
    package var number: Int64
    /// The domain of the users whom it may log in; empty: it may log nobody in.
    package var domain: String
    /// The key of its signatures. It is stored as it is, since an HMAC cannot be checked with less.
    package var secret: Redacted<String>
    /// The secret before this one; `nil`: it is not accepted any more.
    package var formerSecret: FormerSecret?
    /// What an operator may change.
    package var profile: ApplicationProfile

    /// Makes an application of its parts; each parameter is the property of that name.
    package init(
        name: ApplicationName, number: Int64 = 0, domain: String, secret: Redacted<String>,
        formerSecret: FormerSecret? = nil, profile: ApplicationProfile = ApplicationProfile()
    ) {
        self.name = name
        self.number = number
        self.domain = domain
        self.secret = secret
        self.formerSecret = formerSecret
        self.profile = profile
    }

    /// Who it is, which stays what it is whatever is changed.
    package var identity: ApplicationIdentity { ApplicationIdentity(name: name, number: number) }

    /// The secrets that are accepted, the present one first.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func secrets(at now: Int64) -> [Redacted<String>] {
        [secret] + (formerSecret.map { $0.expiresAt > now ? [$0.secret] : [] } ?? [])
    }

    /// What the call runtime knows of it.
    package var registered: RegisteredApplication {
        RegisteredApplication(
            identity: identity, displayName: profile.displayName, addresses: profile.addresses,
            decisionTime: profile.decisionTime, fallback: profile.fallback, maximumCalls: profile.maximumCalls,
            callRate: profile.callsPerSecond.map {
                RateAllowance.Rate(burst: $0, interval: .nanoseconds(1_000_000_000 / Int64($0)))
            }, maximumStreams: profile.maximumStreams)
    }
}

/// What an application may do, and how its calls are treated.
package struct ApplicationProfile: Equatable, Sendable {
    /// The display name, which others see unless the application gives another one for a call; may be empty.
    package var displayName = ""
    /// What it may do.
    package var scopes: Set<ApplicationScope> = [.usersLogin]
    /// The addresses that it owns.
    package var addresses: [ApplicationAddress] = []
    /// How long an incoming call waits for a command.
    package var decisionTime = RegisteredApplication.usualDecisionTime
    /// What happens to a call about which nobody decides in time.
    package var fallback = ApplicationFallback.reject(.unavailable)
    /// The most legs that it may have at a time.
    package var maximumCalls = 100
    /// How many calls may start in a second; `nil`: any number.
    package var callsPerSecond: Int?
    /// The program of streams that are asked for without a URL; `nil`: they are refused.
    package var streamURL: WebSocketURL?
    /// The most streams that its calls may have at a time, listeners included; `nil`: any number.
    package var maximumStreams: Int?

    /// The most addresses of an application.
    package static let addressLimit = 100
    /// The permitted values of ``maximumCalls``.
    package static let callCounts = 1...100_000
    /// The permitted values of ``callsPerSecond``.
    package static let callRates = 1...10_000
    /// The permitted values of ``maximumStreams``.
    package static let streamCounts = 1...100_000
    /// The longest display name, in bytes of UTF-8.
    package static let displayNameLength = 256

    /// Makes a profile with the default values: it may log users in, and has no calls.
    package init() {}
}

/// A key of an application as it is stored, without the key.
package struct StoredApplicationKey: Equatable, Sendable {
    /// The name by which it is revoked; unique.
    package var id: String
    /// The application.
    package var application: ApplicationName
    /// The last characters of the key, so that people tell keys apart.
    package var ending: String
    /// When it was made, milliseconds since 1970.
    package var createdAt: Int64
    /// Who made it, by the name in the audit log.
    package var createdBy: String
    /// When it stops being accepted, milliseconds since 1970; `nil`: never.
    package var expiresAt: Int64?

    /// The most keys of an application.
    package static let limit = 20

    /// Makes a key of its parts; each parameter is the property of that name.
    package init(
        id: String, application: ApplicationName, ending: String, createdAt: Int64, createdBy: String,
        expiresAt: Int64?
    ) {
        self.id = id
        self.application = application
        self.ending = ending
        self.createdAt = createdAt
        self.createdBy = createdBy
        self.expiresAt = expiresAt
    }
}

/// The text of a key of an application.
///
/// It is 252 random bits behind a prefix that says what it is, so that scanners for secrets find it. Nobody can guess
/// it, whatever a guess costs, so it is stored as a plain SHA-256: a slow hash protects secrets that people choose.
package struct ApplicationKey: Sendable {
    /// The key, which is shown once, when it is made.
    package let text: Redacted<String>

    /// What every key starts with.
    package static let prefix = "owk_"
    private static let length = 42

    /// Draws a key.
    package init(random: inout some RandomSource) {
        text = Redacted(Self.prefix + random.nextToken(Self.length, alphabet: .url))
    }

    /// Reads a key; `nil` if the text does not look like one.
    package init?(_ text: some StringProtocol) {
        guard text.hasPrefix(Self.prefix), text.utf8.count == Self.prefix.utf8.count + Self.length else { return nil }
        self.text = Redacted(String(text))
    }

    /// The last characters.
    package var ending: String { String(text.value.suffix(4)) }
}

/// What is kept of a token that an application has got for a user.
package struct ApplicationToken: Equatable, Sendable {
    /// SHA-256 of the token. The token itself has 256 random bits, so that a plain hash hides it.
    package var digest: [UInt8]
    /// The user whom the token logs in.
    package var user: UserAddress
    /// When it expires, in seconds since 1970.
    package var expires: Int64

    /// Makes a token of its parts; each parameter is the property of that name.
    package init(digest: [UInt8], user: UserAddress, expires: Int64) {
        self.digest = digest
        self.user = user
        self.expires = expires
    }
}
