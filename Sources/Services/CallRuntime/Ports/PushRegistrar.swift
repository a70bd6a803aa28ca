package import CallControl
package import Push

/// The devices that have registered for push (spidr-wire §11). What a function has changed is an entry of the
/// ``Journal`` when it returns, so that an answer that waits for the journal promises nothing that is forgotten.
package protocol PushRegistrar: Sendable {
    /// Registers a device; it takes the place of an older registration of the same device (`PushRoster`).
    ///
    /// - Parameter registration: what the device has sent. Its name is empty: it gets one.
    /// - Returns: the name of the registration.
    /// - Throws: `StorageError.noSuchUser` if the user has no account any more; `StorageError.failed` if the accounts
    ///   cannot be read.
    func register(_ registration: PushRegistration, of user: UserAddress) async throws(StorageError) -> PushDeviceID
    /// Changes a registration, whose name is in `registration`.
    ///
    /// - Returns: whether the user has such a registration with this provider.
    /// - Throws: as ``register(_:of:)``.
    func update(_ registration: PushRegistration, of user: UserAddress) async throws(StorageError) -> Bool
    /// Removes a registration.
    ///
    /// - Parameters:
    ///   - user: whose it must be; `nil`: anybody's.
    ///   - provider: with whom it must be; `nil`: with any.
    /// - Returns: what was removed; `nil`: there was none.
    func remove(_ device: PushDeviceID, of user: UserAddress?, at provider: PushProvider?) async -> PushRegistration?
    /// The registrations of a user, in the order in which they were made.
    func registrations(of user: UserAddress) async -> [StoredPushRegistration]
    /// The registrations behind a name, in the order of names.
    ///
    /// - Parameters:
    ///   - user: only those of this user; `nil`: of all users.
    ///   - device: only names behind this one; `nil`: from the first on.
    func page(of user: UserAddress?, after device: PushDeviceID?, limit: Int) async -> [StoredPushRegistration]
    /// Removes the registrations of accounts that were removed, disabled, or followed by another of the same address.
    ///
    /// - Throws: `StorageError.failed` if the accounts cannot be read.
    func dismissRemovedUsers() async throws(StorageError)
}
