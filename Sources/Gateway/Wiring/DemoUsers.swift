import CallControl
import CallRuntime
import Cryptography

/// The users of `--dev`. Their password is public, so they are only ever added to a database that is thrown away.
enum DemoUsers {
    static let domain = "dev.local"
    static let password = "dev"
    static let names = ["Alice", "Bob", "Carol", "Dave"]

    /// The robot that answers each call, and plays back what it hears. It has no account.
    static let echo: RegisteredApplication = {
        guard let name = ApplicationName("echo") else { preconditionFailure("this is a name") }
        return RegisteredApplication(
            identity: ApplicationIdentity(name: name, number: 0), displayName: "Echo",
            addresses: [ApplicationAddress(address(of: "echo"))], decisionTime: .zero,
            fallback: .answer(.echo(delay: .seconds(1))))
    }()

    private static func address(of name: String) -> UserAddress {
        guard let address = UserAddress(parsing: "\(name)@\(domain)") else {
            preconditionFailure("demo names are addresses")
        }
        return address
    }

    /// - Parameter cost: that of their records.
    static func add(to users: some UserRepository, _ cost: PasswordHash.Cost) async throws(StorageError) {
        var random = SecureRandomSource()
        for name in names {
            try await users.add(
                StoredUser(address: address(of: name), passwordRecord: try record(cost, &random), displayName: name))
        }
    }

    private static func record(_ cost: PasswordHash.Cost, _ random: inout SecureRandomSource) throws(StorageError)
        -> String
    {
        do {
            return try PasswordHash(of: password, cost: cost, random: &random).text
        } catch {
            throw .failed("there is no memory to hash a password")
        }
    }
}
