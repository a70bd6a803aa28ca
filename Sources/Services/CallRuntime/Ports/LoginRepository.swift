package import CallControl

/// Logins that outlive the process, so that not everybody's password must be checked again after a restart.
/// Implemented by `Storage`.
///
/// Nothing of it can be used, or tried out, without a key that is kept elsewhere (docs/adr/0006).
package protocol LoginRepository: Sendable {
    /// What was remembered under this key and has not expired; everything else is removed.
    ///
    /// - Parameters:
    ///   - key: the key's name, not the key.
    ///   - now: seconds since 1970.
    ///   - limit: the most of each kind; what expires last is taken first.
    func rememberedLogins(under key: [UInt8], at now: Int64, limit: Int) async throws(StorageError) -> RememberedLogins
    /// Adds to what is remembered, or renews it. Accounts that do not exist any more are passed over.
    func remember(_ logins: RememberedLogins, under key: [UInt8]) async throws(StorageError)
}

package struct RememberedLogins: Equatable, Sendable {
    /// Credentials that were right.
    package struct Credentials: Equatable, Sendable {
        /// Keyed, of what the client sends.
        package var digest: [UInt8]
        package var account: UserAddress
        /// Keyed digest of the password record that they were checked against.
        package var record: [UInt8]
        /// Seconds since 1970.
        package var expires: Int64

        package init(digest: [UInt8], account: UserAddress, record: [UInt8], expires: Int64) {
            self.digest = digest
            self.account = account
            self.record = record
            self.expires = expires
        }
    }

    /// A network from which somebody has logged in to an account.
    package struct Network: Equatable, Sendable {
        package var account: UserAddress
        /// Keyed digest of account and network.
        package var mark: UInt64
        /// Seconds since 1970.
        package var expires: Int64

        package init(account: UserAddress, mark: UInt64, expires: Int64) {
            self.account = account
            self.mark = mark
            self.expires = expires
        }
    }

    package var credentials: [Credentials]
    package var networks: [Network]

    package init(credentials: [Credentials] = [], networks: [Network] = []) {
        self.credentials = credentials
        self.networks = networks
    }

    package var isEmpty: Bool { credentials.isEmpty && networks.isEmpty }
}
