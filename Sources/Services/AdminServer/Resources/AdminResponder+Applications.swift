import CallControl
import CallRuntime
import GatewayAPI
import Cryptography
import Primitives

/// Applications: those that log users in (spidr-wire §2, *Application token*), and those that have calls.
extension AdminResponder {
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
        var random = SecureRandomSource()
        let new = try StoredApplication.make(reading: call.body, random: &random)
        try await storing { () async throws(StorageError) in try await applications.add(new) }
        await controls.applicationsChanged()
        return .json(ApplicationField(new, showsSecret: true), status: 201)
    }

    func changeApplication(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let change = try ApplicationChange(
            BodyFields(parsing: call.body, known: Set(ApplicationChange.fields)))
        let name = try applicationName(call)
        let changed = try await storing { () async throws(StorageError) in
            try await applications.change(name) { change.apply(to: &$0) }
        }
        await controls.applicationsChanged()
        return .json(ApplicationField(changed))
    }

    func rotateApplicationSecret(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let fields = try BodyFields(parsing: call.body, known: ["overlap"], isOptional: true)
        let overlap = try fields.number("overlap", in: 0...StoredApplication.longestOverlap.wholeMilliseconds) ?? 0
        let application = try await application(call)
        var random = SecureRandomSource()
        let (name, secret) = (application.name, StoredApplication.makeSecret(random: &random))
        let end = overlap > 0 ? clock.epochMilliseconds + overlap : nil
        try await storing { () async throws(StorageError) in
            try await applications.setSecret(secret, of: name, keepingFormerUntil: end)
        }
        return .json(ApplicationField(try await self.application(call), showsSecret: true))
    }

    func removeApplication(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let application = try await application(call)
        try await storing { () async throws(StorageError) in try await applications.remove(application.name) }
        await controls.applicationsChanged()
        return .json(ApplicationField(application))
    }

    // MARK: Keys

    func listApplicationKeys(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let name = try await application(call).name
        let keys = try await storing { () async throws(StorageError) in try await applications.keys(of: name) }
        return .json(["items": keys.map { ApplicationKeyField($0) }])
    }

    func addApplicationKey(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let fields = try BodyFields(parsing: call.body, known: ["expiresAt"], isOptional: true)
        let now = clock.epochMilliseconds
        let end = try fields.number("expiresAt", in: now...253_402_300_799_000)
        let name = try applicationName(call)
        var random = SecureRandomSource()
        let (key, stored) = ApplicationKey.make(
            of: name, expiresAt: end, at: now, by: call.caller.name, random: &random)
        let isNew = try await storing { () async throws(StorageError) in
            try await applications.add(stored, digest: key.digest, of: name)
        }
        guard isNew else {
            throw AdminError(
                .applicationKeyLimit,
                "\(name) has \(StoredApplicationKey.limit) keys, and may not have more; revoke one of them.")
        }
        return .json(ApplicationKeyField(stored, key: key.text.value), status: 201)
    }

    func revokeApplicationKey(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let name = try await application(call).name
        let id = call.values["id"] ?? ""
        let removed = try await storing { () async throws(StorageError) in
            try await applications.removeKey(id, of: name)
        }
        guard let removed else {
            throw AdminError(.applicationKeyNotFound, "The application \(name) has no key of this name.")
        }
        return .json(ApplicationKeyField(removed))
    }

    // MARK: The application

    /// The name of the application in the path.
    private func applicationName(_ call: Call) throws(AdminError) -> ApplicationName {
        let text = call.values["name"] ?? ""
        guard let name = ApplicationName(text) else {
            throw AdminError(
                .applicationNotFound, "\(text.prefix(64)) is no name of an application; \(StoredApplication.nameRule).")
        }
        return name
    }

    /// The application that the path names.
    private func application(_ call: Call) async throws(AdminError) -> StoredApplication {
        let name = try applicationName(call)
        let found = try await storing { () async throws(StorageError) in try await applications.application(name) }
        guard let found else { throw AdminError(.noSuchApplication(name)) }
        return found
    }
}
