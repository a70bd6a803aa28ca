import CallControl
import CallRuntime
import Cryptography

/// The users of `--dev`. Their password is public, so they are only ever added to a database that is thrown away.
enum DemoUsers {
    static let domain = "dev.local"
    static let password = "dev"
    static let names = ["Alice", "Bob", "Carol", "Dave"]

    static func add(to users: some UserRepository) async throws(StorageError) {
        var random = SecureRandomSource()
        for name in names {
            guard let address = UserAddress(parsing: "\(name)@\(domain)") else {
                preconditionFailure("demo names are addresses")
            }
            try await users.add(StoredUser(address: address, passwordRecord: try record(&random), displayName: name))
        }
    }

    private static func record(_ random: inout SecureRandomSource) throws(StorageError) -> String {
        do {
            return try PasswordHash(of: password, random: &random).text
        } catch {
            throw .failed("there is no memory to hash a password")
        }
    }
}
