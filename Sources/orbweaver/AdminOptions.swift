import ArgumentParser
import Foundation
import Gateway

/// The options of every command that asks a running gateway.
struct AdminOptions: ParsableArguments {
    @Option(help: ArgumentHelp("The administration socket; otherwise admin.socket.", valueName: "path"))
    var socket: String?

    @Option(
        help: ArgumentHelp(
            "The administration interface over TCP, with a token in ORBWEAVER_ADMIN_TOKEN.",
            valueName: "https://host:port"))
    var url: String?

    @Flag(help: "Do not verify the certificate of --url.")
    var insecure = false

    @OptionGroup var options: ConfigurationOptions

    func validate() throws {
        if socket != nil, url != nil { throw ValidationError("give either --socket or --url") }
    }

    /// A client for the place that the options or the configuration name.
    func client() throws -> AdminClient {
        guard let client = try configuredClient() else {
            throw AdminClient.Failure(
                description:
                    "admin.socket is off, or cannot be beside the database: name the place with --socket or --url")
        }
        return client
    }

    /// The users of the gateway that runs; if none does, those in the database file.
    func users() async throws -> any UserCommands {
        if let client = try await runningGateway() { return RemoteUsers(client) }
        return try UserAdministration(options.load().configuration)
    }

    /// The applications of the gateway that runs; if none does, those in the database file.
    func applications() async throws -> any ApplicationCommands {
        if let client = try await runningGateway() { return RemoteApplications(client) }
        return try ApplicationAdministration(options.load().configuration)
    }

    /// The tokens of the gateway that runs; if none does, those in the database file.
    func tokens() async throws -> any TokenCommands {
        if let client = try await runningGateway() { return RemoteTokens(client) }
        return try TokenAdministration(options.load().configuration)
    }

    /// A client for the gateway that runs; `nil`: the options name none, and none listens at the configured place.
    private func runningGateway() async throws -> AdminClient? {
        guard let client = try configuredClient() else { return nil }
        if namesPlace { return client }
        do throws(AdminClient.Failure) {
            _ = try await client.ask("GET", "/drain")
            return client
        } catch {
            guard error.isAbsent else { throw error }
            return nil
        }
    }

    private func configuredClient() throws -> AdminClient? {
        try client(orAt: { try options.load().configuration.adminSocketPath })
    }

    /// Whether the options name a place.
    var namesPlace: Bool { socket != nil || url != nil }

    /// A client for the place that the options name, or else for a socket; `nil`: there is neither.
    func client(orAt configuredSocket: () throws -> String?) throws -> AdminClient? {
        let token = ProcessInfo.processInfo.environment["ORBWEAVER_ADMIN_TOKEN"]
        if let url {
            return AdminClient(try AdminClient.place(url: url), token: token, trustsAnyCertificate: insecure)
        }
        guard let path = try socket ?? configuredSocket() else { return nil }
        return AdminClient(.socket(path), token: token)
    }
}

/// Reads all pages of a list, and prints a line for each item, with tabs between the columns.
func printList(_ client: AdminClient, _ path: String, _ line: (JSONValue) -> [String]) async throws {
    var cursor = ""
    while true {
        let separator = path.contains("?") ? "&" : "?"
        let answer = try await client.ask("GET", path + (cursor.isEmpty ? "" : separator + "cursor=" + cursor))
        let page = try JSONValue(parsing: answer.body)
        for item in page["items"].elements { print(line(item).joined(separator: "\t")) }
        guard let next = page["next"].text else { return }
        cursor = next
    }
}
