import ArgumentParser
import Cryptography
import Foundation
import NIOCore
import NIOHTTP1
import Primitives

/// Where the gateway under test keeps what it promises.
enum GatewayStore: String, CaseIterable, ExpressibleByArgument {
    /// In a file, as in production: each request that changes something waits until that is durable.
    case file
    /// In memory, as `serve --dev` has it.
    case memory
}

/// `orbweaver serve` with one event loop and one media worker, and what a client needs to talk to it.
final class GatewayUnderTest: Sendable {
    let process: ChildProcess
    let port: Int
    private let tlsPort: Int
    /// The database and what belongs to it; `nil`: there is none.
    private let files: DatabaseFolder?
    private let binary: String

    /// Users who are always there; all have the password `dev`.
    static let users = ["alice", "bob", "carol", "dave"].map { "\($0)@dev.local" }

    /// The name of one of the further users, from 0.
    static func user(_ number: Int) -> String { "user\(number)@dev.local" }

    /// Two users make all calls, as fast as they can.
    private static let oneForAll = ["max_per_user", "max_ringing_per_user", "starts_per_user"].map {
        "calls.\($0)=1000000"
    }
    /// All clients come from one address, and subscribe as fast as they can.
    private static let oneAddress = ["max_per_network", "network_requests", "user_requests"].map {
        "registration.\($0)=1000000"
    }
    /// For clients that wait for each notification before they go on: none is held back while they digest an answer,
    /// which would make every call 350 ms long and so leave the gateway idle.
    static let toldAtOnce = ["registration.answer_time=0s", "registration.session_time=0s"]

    /// - Parameters:
    ///   - furtherUsers: how many users there are besides the four; only with a file.
    ///   - hasTLS: whether there is a port with TLS, too. The two share what the limit of open files leaves.
    ///   - settings: `section.key=value`, over those that the benchmark needs.
    ///   - address: where media is.
    ///   - core: the only core that it may use; `nil`: any.
    init(
        _ binary: String, store: GatewayStore = .memory, furtherUsers: Int = 0, hasTLS: Bool = true,
        settings: [String] = [], address: String = "127.0.0.1", core: Int? = nil
    ) async throws {
        port = try await FreePort.tcp()
        tlsPort = try await FreePort.tcp()
        let mediaPort = try FreePort.udp()
        let common =
            ["media.workers=1", "media.bind=\(address)", "log.level=error"] + Self.oneForAll + Self.oneAddress
            + settings
        let arguments: [String]
        let files = store == .file ? try DatabaseFolder() : nil
        (self.files, self.binary) = (files, binary)
        switch files {
        case nil:
            arguments = [
                "--dev", "--http-port", "\(port)", "--https-port", "\(tlsPort)", "--media-port", "\(mediaPort)",
            ]
        case let files?:
            let own =
                files.settings + ["listen.host=127.0.0.1", "media.port=\(mediaPort)"]
                + (hasTLS
                    ? files.tls + ["listen.port=\(tlsPort)", "listen.plain_port=\(port)"]
                    : ["tls.mode=off", "listen.port=\(port)"])
            arguments = own.flatMap { ["--set", $0] }
        }
        let serve = [binary, "serve"] + arguments + common.flatMap { ["--set", $0] }
        let command = (core.map(Cores.start) ?? []) + serve
        process = try await ChildProcess(command[0], Array(command.dropFirst()), port: port)
        try files?.addUsers(Self.users + (0..<furtherUsers).map(Self.user), by: binary)
    }

    /// Ends the process, and removes its files.
    func stop() {
        process.stop()
        // What is left of a temporary folder does no harm.
        if let files { try? FileManager.default.removeItem(at: files.folder) }
    }

    /// Adds an application that is called at `name@dev.local`; only with a file.
    ///
    /// - Parameter options: more of `orbweaver app add`.
    /// - Returns: a key of it.
    /// - Throws: `ValidationError` if a command fails.
    func addApplication(_ name: String, _ options: [String] = []) throws -> String {
        _ = try command(["app", "add", name, "--address", "\(name)@dev.local"] + options)
        return try command(["app", "key", "add", name])
    }

    /// Runs a command of the gateway's program about its database; only with a file.
    ///
    /// - Returns: what it has printed, without the end of the line.
    /// - Throws: `ValidationError` if it fails.
    func command(_ arguments: [String]) throws -> String {
        guard let files else { preconditionFailure("commands are about a database in a file") }
        return try files.run(arguments, by: binary)
    }

    func path(_ user: String, _ resource: String) -> String { "/rest/version/1/user/\(user)/\(resource)" }

    /// Subscribes a user and, unless told not to, opens the channel.
    func register(_ user: String, _ client: HTTPClient, listens: Bool = true, overTLS: Bool = false) async throws
        -> NotificationSocket?
    {
        let granted = try await subscribe(user, client)
        guard listens else { return nil }
        return try await NotificationSocket(port: port(overTLS: overTLS), overTLS: overTLS, path: granted.channel)
    }

    /// The port of WebSockets.
    func port(overTLS: Bool) -> Int { overTLS ? tlsPort : port }

    /// Subscribes a user; the paths of the subscription and of its channel.
    func subscribe(_ user: String, _ client: HTTPClient, services: [String] = ["call"]) async throws -> (
        subscription: String, channel: String
    ) {
        let list = services.map { "\"\($0)\"" }.joined(separator: ",")
        let body = #"{"subscribeRequest":{"expires":3600,"service":[\#(list)],"notificationType":"WebSocket"}}"#
        let answer = try await client.request(
            .POST, path(user, "subscription"), user: user, body: ByteBuffer(string: body))
        guard answer.status == 201 else {
            throw ValidationError("subscribe: \(answer.status) \(String(buffer: answer.body))")
        }
        let granted = try JSONDecoder().decode(Subscribed.self, from: Data(answer.body.readableBytesView))
            .subscribeResponse
        return (granted.subscription, granted.subscriptionParams.notificationChannel)
    }

    private struct Subscribed: Decodable {
        struct Response: Decodable {
            struct Parameters: Decodable { var notificationChannel: String }
            var subscription: String
            var subscriptionParams: Parameters
        }
        var subscribeResponse: Response
    }
}

/// A temporary folder with what a gateway needs that is not `--dev`: a database with users, and a certificate.
private struct DatabaseFolder: Sendable {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-bench-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        let certificate = try Certificate(commonName: "orbweaver-bench")
        try Data(certificate.certificatePEM.utf8).write(to: folder.appending(path: "certificate.pem"))
        try Data(certificate.privateKeyPEM.value.utf8).write(to: folder.appending(path: "key.pem"))
    }

    var settings: [String] {
        [
            "storage.path=\(path("users.sqlite"))", "registration.domain=dev.local", "auth.password_cost=ln=4,r=1,p=1",
        ]
    }

    var tls: [String] { ["tls.certificate=\(path("certificate.pem"))", "tls.key=\(path("key.pem"))"] }

    private func path(_ name: String) -> String { folder.appending(path: name).path(percentEncoded: false) }

    /// Adds accounts to the running gateway whose password `dev` costs next to nothing to check.
    func addUsers(_ users: [String], by binary: String) throws {
        var random = SecureRandomSource()
        let record = try PasswordHash(of: "dev", cost: .init(logN: 4, r: 1, p: 1), random: &random).text
        let lines = users.map { #"{"address":"\#($0)","passwordRecord":"\#(record)"}"# }
        let file = folder.appending(path: "users.jsonl")
        try Data(lines.joined(separator: "\n").utf8).write(to: file)
        _ = try run(["user", "import", file.path(percentEncoded: false)], by: binary)
    }

    /// Runs a command about this database.
    ///
    /// - Returns: what it has printed, without the end of the line.
    /// - Throws: `ValidationError` if it fails.
    func run(_ arguments: [String], by binary: String) throws -> String {
        let command = Process()
        command.executableURL = URL(filePath: binary)
        command.arguments = arguments + settings.flatMap { ["--set", $0] }
        let output = Pipe()
        command.standardOutput = output
        try command.run()
        let printed = output.fileHandleForReading.readDataToEndOfFile()
        command.waitUntilExit()
        guard command.terminationStatus == 0 else {
            throw ValidationError("\(binary) \(arguments.joined(separator: " ")) has failed")
        }
        return String(decoding: printed, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
    }
}
