import CallControl
import CallRuntime
import Cryptography

/// The users of `--dev`.
enum DevelopmentUsers {
    static let names = ["alice", "bob", "carol", "dave"]
    static let password = "dev"

    static func add(to users: some UserRepository, domain: String) async throws {
        var random = SecureRandomSource()
        for name in names {
            guard let address = UserAddress(parsing: name, defaultDomain: domain) else {
                throw GatewayError("registration.domain '\(domain)' makes no address")
            }
            let record = PasswordHash(of: password, random: &random).text
            try await users.add(StoredUser(address: address, passwordRecord: record, displayName: name.prefix(1).uppercased() + name.dropFirst()))
        }
    }
}
