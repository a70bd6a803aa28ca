import AdminServer
import CallControl
import CallRuntime
import Cryptography
import Primitives

/// The application of `--dev`, with which bots are tried out (docs/bots.md). Its key is public, so it is only ever
/// added to a database that is thrown away.
enum DemoApplication {
    /// A key that everybody knows.
    static let key = "owk_demo-key-of-orbweaver-that-everybody-knows"

    static func add(to applications: some ApplicationRepository) async throws(StorageError) {
        guard let name = ApplicationName("demo"), let address = ApplicationAddress("bot@\(DemoUsers.domain)"),
            let key = ApplicationKey(key)
        else { preconditionFailure("the demo application has a name, an address and a key") }
        var random = SecureRandomSource()
        var profile = ApplicationProfile()
        profile.displayName = "Bot"
        profile.scopes = Set(ApplicationScope.allCases).subtracting([.usersLogin])
        profile.addresses = [address]
        // Who tries it out types the answer.
        profile.decisionTime = .seconds(60)
        try await applications.add(
            StoredApplication(
                name: name, domain: "", secret: StoredApplication.makeSecret(random: &random), profile: profile))
        _ = try await applications.add(
            StoredApplicationKey(
                id: "demo", application: name, ending: key.ending, createdAt: 0, createdBy: "--dev", expiresAt: nil),
            digest: key.digest, of: name)
    }
}
