package import CallControl
package import Primitives

/// The application servers that may log users in (spidr-wire §2, *Application token*), and the tokens that they have
/// got. Implemented by `Storage`. Every function throws `StorageError.failed` if the database refuses.
package protocol ApplicationRepository: Sendable {
    /// The application of this name; `nil` if there is none.
    func application(_ name: ApplicationName) async throws(StorageError) -> StoredApplication?
    /// All applications, in the order of their names.
    func allApplications() async throws(StorageError) -> [StoredApplication]
    /// Adds an application.
    ///
    /// - Throws: `applicationExists` if the name is taken.
    func add(_ application: StoredApplication) async throws(StorageError)
    /// Replaces the secret of an application. Tokens that it has got stay valid.
    ///
    /// - Throws: `noSuchApplication`.
    func setSecret(_ secret: Redacted<String>, of name: ApplicationName) async throws(StorageError)
    /// Removes an application and its tokens. Subscriptions that were made with them go on.
    ///
    /// - Throws: `noSuchApplication`.
    func remove(_ name: ApplicationName) async throws(StorageError)

    /// Keeps a token. Tokens of the application that expired before `now` are forgotten, and the oldest if it has more
    /// than `limit`.
    ///
    /// - Parameter now: seconds since 1970.
    /// - Throws: `noSuchApplication`, or `noSuchUser`, if either is gone.
    func keep(
        _ token: ApplicationToken, of application: ApplicationName, limit: Int, at now: Int64
    ) async throws(StorageError)
    /// Takes a token of this user out: nobody gets it a second time. A token of another user stays where it is.
    ///
    /// - Parameter digest: SHA-256 of the token.
    /// - Returns: when the token expires, or has expired, in seconds since 1970; `nil`: there is no such token.
    func take(_ digest: [UInt8], of user: UserAddress) async throws(StorageError) -> Int64?
}

/// An application server that may log users in, as stored.
package struct StoredApplication: Equatable, Sendable {
    /// The name in the path of its requests, `{adapter}` in spidr-wire §2; unique.
    package var name: ApplicationName
    /// The domain of the users whom it may log in.
    package var domain: String
    /// The key of its signatures. It is stored as it is, since an HMAC cannot be checked with less.
    package var secret: Redacted<String>

    /// Makes an application of its parts; each parameter is the property of that name.
    package init(name: ApplicationName, domain: String, secret: Redacted<String>) {
        self.name = name
        self.domain = domain
        self.secret = secret
    }
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
