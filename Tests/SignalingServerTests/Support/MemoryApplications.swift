import CallControl
import CallRuntime
import Primitives

/// Applications and their tokens in memory.
actor MemoryApplications: ApplicationRepository {
    private let users: Set<UserAddress>
    private var applications: [ApplicationName: StoredApplication] = [:]
    private var tokens: [ApplicationToken] = []
    private var keys: [(digest: [UInt8], key: StoredApplicationKey)] = []

    init(_ users: [String]) { self.users = Set(users.compactMap { UserAddress(parsing: $0) }) }

    func application(_ name: ApplicationName) async throws(StorageError) -> StoredApplication? { applications[name] }

    func allApplications() async throws(StorageError) -> [StoredApplication] {
        applications.values.sorted { $0.name.description < $1.name.description }
    }

    func add(_ application: StoredApplication) async throws(StorageError) {
        guard applications[application.name] == nil else { throw .applicationExists(application.name) }
        applications[application.name] = application
    }

    func change(
        _ name: ApplicationName, _ edit: @escaping @Sendable (inout ApplicationProfile) -> Void
    ) async throws(StorageError) -> StoredApplication {
        guard var application = applications[name] else { throw .noSuchApplication(name) }
        edit(&application.profile)
        applications[name] = application
        return application
    }

    func setSecret(
        _ secret: Redacted<String>, of name: ApplicationName, keepingFormerUntil end: Int64?
    ) async throws(StorageError) {
        guard let old = applications[name] else { throw .noSuchApplication(name) }
        applications[name]?.secret = secret
        applications[name]?.formerSecret = end.map { .init(secret: old.secret, expiresAt: $0) }
    }

    func application(
        ofKey digest: [UInt8]
    ) async throws(StorageError) -> (application: StoredApplication, key: StoredApplicationKey)? {
        guard let key = keys.first(where: { $0.digest == digest })?.key, let application = applications[key.application]
        else { return nil }
        return (application: application, key: key)
    }

    func keys(of name: ApplicationName) async throws(StorageError) -> [StoredApplicationKey] {
        keys.map(\.key).filter { $0.application == name }
    }

    func add(
        _ key: StoredApplicationKey, digest: [UInt8], of name: ApplicationName
    ) async throws(StorageError) -> Bool {
        keys.append((digest, key))
        return true
    }

    func removeKey(_ id: String, of name: ApplicationName) async throws(StorageError) -> StoredApplicationKey? {
        guard let index = keys.firstIndex(where: { $0.key.id == id && $0.key.application == name }) else { return nil }
        return keys.remove(at: index).key
    }

    func remove(_ name: ApplicationName) async throws(StorageError) {
        guard applications.removeValue(forKey: name) != nil else { throw .noSuchApplication(name) }
    }

    func keep(
        _ token: ApplicationToken, of application: ApplicationIdentity, limit: Int, at now: Int64
    ) async throws(StorageError) {
        guard users.contains(token.user) else { throw .noSuchUser(token.user) }
        tokens.append(token)
    }

    func take(_ digest: [UInt8], of user: UserAddress) async throws(StorageError) -> Int64? {
        guard let index = tokens.firstIndex(where: { $0.digest == digest && $0.user == user }) else { return nil }
        return tokens.remove(at: index).expires
    }
}
