package import CallControl

/// Logins that outlive the process, so that after a restart not every password must be checked again. Implemented by
/// `Storage`.
///
/// What is stored can be neither used nor tested without a key that is kept elsewhere (docs/adr/0006).
package protocol LoginRepository: Sendable {
    /// What was remembered under this key and has not expired. Everything else is removed.
    ///
    /// - Parameters:
    ///   - key: the name of the key, not the key.
    ///   - now: seconds since 1970.
    ///   - limit: the most entries of each kind; those that expire last take precedence.
    /// - Throws: `StorageError.failed`.
    func rememberedLogins(under key: [UInt8], at now: Int64, limit: Int) async throws(StorageError) -> RememberedLogins
    /// Adds to what is remembered, or renews it. Accounts that do not exist any more are skipped.
    ///
    /// - Throws: `StorageError.failed`.
    func remember(_ logins: RememberedLogins, under key: [UInt8]) async throws(StorageError)
}

/// Logins that were successful, in a form that reveals neither passwords nor IP addresses.
package struct RememberedLogins: Equatable, Sendable {
    /// Credentials that were accepted.
    package struct Credentials: Equatable, Sendable {
        /// Keyed digest of what the client sends.
        package var digest: [UInt8]
        /// The account that they are for.
        package var account: UserAddress
        /// Keyed digest of the password record that they were checked against.
        package var record: [UInt8]
        /// When they have to be checked again, seconds since 1970.
        package var expires: Int64

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(digest: [UInt8], account: UserAddress, record: [UInt8], expires: Int64) {
            self.digest = digest
            self.account = account
            self.record = record
            self.expires = expires
        }
    }

    /// A network from which a client has logged in to an account.
    package struct Network: Equatable, Sendable {
        /// The account.
        package var account: UserAddress
        /// Keyed digest of the account and the network.
        package var mark: UInt64
        /// When the network is forgotten, seconds since 1970.
        package var expires: Int64

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(account: UserAddress, mark: UInt64, expires: Int64) {
            self.account = account
            self.mark = mark
            self.expires = expires
        }
    }

    /// The credentials that were accepted.
    package var credentials: [Credentials]
    /// The networks that clients have logged in from.
    package var networks: [Network]

    /// Makes a value of its parts; empty without any.
    package init(credentials: [Credentials] = [], networks: [Network] = []) {
        self.credentials = credentials
        self.networks = networks
    }

    /// Whether nothing is remembered.
    package var isEmpty: Bool { credentials.isEmpty && networks.isEmpty }
}
