import CallRuntime

/// Remembered logins in memory, as a database keeps them: by key, and without those that have expired.
actor MemoryLogins: LoginRepository {
    private(set) var logins = RememberedLogins()
    private var key: [UInt8] = []
    var failure: StorageError?

    func set(failure: StorageError?) { self.failure = failure }

    func rememberedLogins(under key: [UInt8], at now: Int64, limit: Int) async throws(StorageError) -> RememberedLogins
    {
        if let failure { throw failure }
        guard key == self.key else { return RememberedLogins() }
        return RememberedLogins(
            credentials: logins.credentials.filter { $0.expires > now },
            networks: logins.networks.filter { $0.expires > now })
    }

    func remember(_ logins: RememberedLogins, under key: [UInt8]) async throws(StorageError) {
        if let failure { throw failure }
        self.key = key
        self.logins.credentials += logins.credentials
        self.logins.networks += logins.networks
    }
}
