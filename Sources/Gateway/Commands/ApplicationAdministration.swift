import AdminServer
import CallControl
import CallRuntime
import Cryptography
import Observability
import Primitives
import Storage

/// Carries out `orbweaver app`: changes to the database file, also while a gateway has it open.
package struct ApplicationAdministration: ApplicationCommands {
    /// Why a command failed, in words for the operator.
    package typealias Refusal = UserAdministration.Refusal

    private let database: GatewayDatabase

    /// Opens the database that `storage.path` names.
    ///
    /// - Throws: ``Refusal`` if it cannot be opened.
    package init(_ configuration: GatewayConfiguration) throws(Refusal) {
        database = try .administered(configuration)
    }

    /// Adds an application.
    ///
    /// - Parameters:
    ///   - name: the name in the path of its requests.
    ///   - domain: the domain of the users whom it may log in.
    /// - Returns: its new secret.
    /// - Throws: ``Refusal`` if the name or the domain cannot be read, the name is taken, or the database fails.
    package func add(_ name: String, domain: String) async throws(Refusal) -> String {
        var random = SecureRandomSource()
        let application: StoredApplication
        do throws(AdminError) {
            application = try .make(name: name, domain: domain, random: &random)
        } catch {
            throw Refusal(description: error.detail)
        }
        try await perform { applications throws(StorageError) in try await applications.add(application) }
        return application.secret.value
    }

    /// One line per application: its name and, after a tab, its domain.
    ///
    /// - Throws: ``Refusal`` if the database fails.
    package func list() async throws(Refusal) -> [String] {
        var lines: [String] = []
        try await perform { applications throws(StorageError) in
            lines = try await applications.allApplications().map { "\($0.name)\t\($0.domain)" }
        }
        return lines
    }

    /// Replaces the secret of an application. The former one is refused from now on.
    ///
    /// - Returns: the new secret.
    /// - Throws: ``Refusal`` if there is no such application, or the database fails.
    package func rotateSecret(of name: String) async throws(Refusal) -> String {
        let name = try parsed(name)
        var random = SecureRandomSource()
        let secret = StoredApplication.makeSecret(random: &random)
        try await perform { applications throws(StorageError) in try await applications.setSecret(secret, of: name) }
        return secret.value
    }

    /// Removes an application and the tokens that it has got.
    ///
    /// - Throws: ``Refusal`` if there is no such application, or the database fails.
    package func remove(_ name: String) async throws(Refusal) {
        let name = try parsed(name)
        try await perform { applications throws(StorageError) in try await applications.remove(name) }
    }

    /// Closes the database. Later calls fail.
    ///
    /// - Throws: ``Refusal`` if the database fails.
    package func close() throws(Refusal) {
        do {
            try database.close()
        } catch {
            throw Refusal(error)
        }
    }

    private func perform(_ body: (ApplicationStore) async throws(StorageError) -> Void) async throws(Refusal) {
        do {
            try await body(database.applications)
        } catch {
            throw Refusal(error)
        }
    }

    private func parsed(_ text: String) throws(Refusal) -> ApplicationName {
        guard let name = ApplicationName(text) else {
            throw Refusal(
                description: "\(text) is no name of an application; it has 1 to 64 letters, digits, -, _ and .")
        }
        return name
    }
}
