import CallControl
package import CallRuntime
import Cryptography
import Foundation
package import Primitives

/// Application servers that may log users in (spidr-wire §2, *Application token*).
extension AdminResponder {
    static let applicationFields = ["name", "domain"]

    func listApplications(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let page = try PageRequest(call.parameters, of: .listApplications, parts: 1)
        var read = try await storing { () async throws(StorageError) in try await applications.allApplications() }
        if let after = page.after { read.removeAll { $0.name.description <= after[0] } }
        return .json(
            Page(read.prefix(page.limit + 1).map { ApplicationField($0) }, page, of: .listApplications) { [$0.name] })
    }

    func showApplication(_ call: Call) async throws(AdminError) -> AdminAnswer {
        .json(ApplicationField(try await application(call)))
    }

    func addApplication(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let fields = try BodyFields(parsing: call.body, known: Set(Self.applicationFields))
        var random = SecureRandomSource()
        let new = try StoredApplication.make(
            name: fields.requiredText("name"), domain: fields.requiredText("domain"), random: &random)
        try await storing { () async throws(StorageError) in try await applications.add(new) }
        return .json(ApplicationField(new, showsSecret: true), status: 201)
    }

    func rotateApplicationSecret(_ call: Call) async throws(AdminError) -> AdminAnswer {
        var application = try await application(call)
        var random = SecureRandomSource()
        application.secret = StoredApplication.makeSecret(random: &random)
        let (name, secret) = (application.name, application.secret)
        try await storing { () async throws(StorageError) in try await applications.setSecret(secret, of: name) }
        return .json(ApplicationField(application, showsSecret: true))
    }

    func removeApplication(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let application = try await application(call)
        try await storing { () async throws(StorageError) in try await applications.remove(application.name) }
        return .json(ApplicationField(application))
    }

    /// The application that the path names.
    private func application(_ call: Call) async throws(AdminError) -> StoredApplication {
        let text = call.values["name"] ?? ""
        guard let name = ApplicationName(text) else {
            throw AdminError(
                .applicationNotFound, "\(text.prefix(64)) is no name of an application; \(StoredApplication.nameRule).")
        }
        let found = try await storing { () async throws(StorageError) in try await applications.application(name) }
        guard let found else { throw AdminError(.noSuchApplication(name)) }
        return found
    }
}

extension StoredApplication {
    fileprivate static let nameRule = "it has 1 to 64 letters, digits, \"-\", \"_\" and \".\""

    /// Makes an application with a secret of its own.
    ///
    /// - Parameter domain: the domain of the users whom it may log in.
    /// - Throws: `request.invalid_value` for a name or a domain that cannot be used.
    package static func make(
        name text: String, domain: String, random: inout some RandomSource
    ) throws(AdminError) -> StoredApplication {
        guard let name = ApplicationName(text) else {
            throw AdminError(.requestInvalidValue, "\(text.prefix(64)) is no name of an application; \(nameRule).")
        }
        guard let usable = UserAddress(parsing: "user@" + domain)?.domain else {
            throw AdminError(.requestInvalidValue, "\(domain.prefix(64)) is no domain; write it like example.com.")
        }
        return StoredApplication(name: name, domain: String(usable), secret: makeSecret(random: &random))
    }

    /// Draws a secret: 256 random bits, as 64 hexadecimal digits.
    package static func makeSecret(random: inout some RandomSource) -> Redacted<String> {
        Redacted(random.nextBytes(32).hexadecimal)
    }
}

/// An application as it is shown.
struct ApplicationField: Codable, Equatable, Sendable {
    var name: String
    var domain: String
    /// The key of its signatures, once.
    var secret: String?

    init(_ application: StoredApplication, showsSecret: Bool = false) {
        name = application.name.description
        domain = application.domain
        secret = showsSecret ? application.secret.value : nil
    }

    /// The same answer without the secret.
    static func withoutSecret(_ body: [UInt8]) -> [UInt8] {
        guard var field = try? JSONDecoder().decode(ApplicationField.self, from: Data(body)) else { return [] }
        field.secret = nil
        return AdminJSON.encode(field)
    }
}
