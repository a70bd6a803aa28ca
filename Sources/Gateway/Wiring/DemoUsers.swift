import CallControl
import CallRuntime
import Cryptography

/// The users of `--dev`. Their password is known to everybody, so they only ever get into a database that is thrown away.
enum DemoUsers {
    static let domain = "dev.local"
    static let password = "dev"
    static let names = ["Alice", "Bob", "Carol", "Dave"]

    static func add(to users: some UserRepository) async throws(StorageError) {
        var random = SecureRandomSource()
        for name in names {
            guard let address = UserAddress(parsing: "\(name)@\(domain)") else { preconditionFailure("demo names are addresses") }
            let record = PasswordHash(of: password, random: &random).text
            try await users.add(StoredUser(address: address, passwordRecord: record, displayName: name))
        }
    }
}
