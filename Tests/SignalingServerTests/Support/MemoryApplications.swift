import CallControl
import CallRuntime
import Primitives

/// Applications and their tokens in memory.
actor MemoryApplications: ApplicationRepository {
    private let users: Set<UserAddress>
    private var applications: [ApplicationName: StoredApplication] = [:]
    private var tokens: [ApplicationToken] = []

    init(_ users: [String]) { self.users = Set(users.compactMap { UserAddress(parsing: $0) }) }

    func application(_ name: ApplicationName) async throws(StorageError) -> StoredApplication? { applications[name] }

    func allApplications() async throws(StorageError) -> [StoredApplication] {
        applications.values.sorted { $0.name.description < $1.name.description }
    }

    func add(_ application: StoredApplication) async throws(StorageError) {
        guard applications[application.name] == nil else { throw .applicationExists(application.name) }
        applications[application.name] = application
    }

    func setSecret(_ secret: Redacted<String>, of name: ApplicationName) async throws(StorageError) {
        guard applications[name] != nil else { throw .noSuchApplication(name) }
        applications[name]?.secret = secret
    }

    func remove(_ name: ApplicationName) async throws(StorageError) {
        guard applications.removeValue(forKey: name) != nil else { throw .noSuchApplication(name) }
    }

    func keep(
        _ token: ApplicationToken, of application: ApplicationName, limit: Int, at now: Int64
    ) async throws(StorageError) {
        guard users.contains(token.user) else { throw .noSuchUser(token.user) }
        tokens.append(token)
    }

    func take(_ digest: [UInt8], of user: UserAddress) async throws(StorageError) -> Int64? {
        guard let index = tokens.firstIndex(where: { $0.digest == digest && $0.user == user }) else { return nil }
        return tokens.remove(at: index).expires
    }
}
