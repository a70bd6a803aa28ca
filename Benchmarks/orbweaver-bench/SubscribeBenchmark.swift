import ArgumentParser
import BenchValues
import Foundation
import GRDB
import Hummingbird
import NIOCore
import NIOHTTP1

struct SubscribeBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "subscribe",
        abstract: "Subscribing and unsubscribing, next to bare Hummingbird routes that write and delete one row.",
        discussion: """
            Both servers are processes of their own with one event loop and an SQLite file (WAL, synchronous=NORMAL); counted is the CPU of
            the whole process. Several clients ask at a time, each for its own user.
            """)

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(help: "Subscriptions of each client per round.")
    var count = 250

    @Option(help: "Clients that ask at a time, at most 100.")
    var clients = 8

    @Option(help: "Rounds; the servers take turns, and what is told is the median.")
    var rounds = 10

    func validate() throws {
        guard 1...100_000 ~= count, 1...100 ~= clients, 1...100 ~= rounds else {
            throw ValidationError("that many cannot be measured")
        }
    }

    func run() async throws {
        let gateway = try await GatewayUnderTest(gateway, store: .file, furtherUsers: clients)
        defer { gateway.stop() }
        let bare = try await BareRowServer()
        defer { bare.process.stop() }
        let own = try await connected(to: gateway.port)
        // One after the other: of strangers from one address only a few logins may wait.
        for (index, client) in own.enumerated() {
            _ = try await gateway.subscribe(GatewayUnderTest.user(index), client)
        }
        let others = try await connected(to: bare.port)
        var (cost, baseline) = (Rounds(), Rounds())
        for round in 0...rounds {
            let ofGateway = try await measured(gateway.process, own) { index, client in
                let user = GatewayUnderTest.user(index)
                let path = try await gateway.subscribe(user, client).subscription
                try await client.succeed(.DELETE, path, user: user)
            }
            let ofRoutes = try await measured(bare.process, others) { index, client in
                let user = GatewayUnderTest.user(index)
                let body = #"{"subscribeRequest":{"expires":3600,"service":["call"],"notificationType":"WebSocket"}}"#
                let answer = try await client.request(
                    .POST, gateway.path(user, "subscription"), user: user, body: ByteBuffer(string: body))
                guard answer.status == 201 else { throw ValidationError("the bare route answered \(answer.status)") }
                try await client.succeed(
                    .DELETE, gateway.path(user, "subscription/\(String(buffer: answer.body))"), user: user)
            }
            // The first round warms up.
            guard round > 0 else { continue }
            cost.add(Double(ofGateway))
            baseline.add(Double(ofRoutes))
        }
        let each = 1 / Double(count * clients) / 1_000
        print(
            "subscribe and unsubscribe: \(cost.scaled(by: each).text("µs")); bare routes with a row: "
                + "\(baseline.scaled(by: each).text("µs")); ratio \(cost.ratios(to: baseline).text(digits: 2))")
    }

    private func connected(to port: Int) async throws -> [HTTPClient] {
        var connected: [HTTPClient] = []
        for _ in 0..<clients { connected.append(try await HTTPClient(port: port)) }
        return connected
    }

    /// The CPU in nanoseconds while every client does this over and over.
    private func measured(
        _ process: ChildProcess, _ clients: [HTTPClient],
        _ work: @escaping @Sendable (Int, HTTPClient) async throws -> Void
    ) async throws -> UInt64 {
        let before = process.cpuNanoseconds()
        try await withThrowingTaskGroup(of: Void.self) { group in
            for (index, client) in clients.enumerated() {
                group.addTask { [count] in for _ in 0..<count { try await work(index, client) } }
            }
            try await group.waitForAll()
        }
        return process.cpuNanoseconds() - before
    }
}

/// `orbweaver-bench bare-rows` in a process of its own.
private struct BareRowServer {
    let process: ChildProcess
    let port: Int

    init() async throws {
        port = try await FreePort.tcp()
        process = try await ChildProcess("/proc/self/exe", ["bare-rows", "--port", "\(port)"], port: port)
    }
}

/// The least that a server can do that keeps subscriptions.
struct BareRows: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "bare-rows",
        abstract: "The baseline of subscribe: Hummingbird routes that write and delete a row.",
        shouldDisplay: false)

    @Option
    var port: Int

    private struct Body: Decodable {
        struct Request: Decodable {
            var expires: Int
            var service: [String]
            var notificationType: String
        }
        var subscribeRequest: Request
    }

    func run() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "orbweaver-bench-rows-\(UUID())")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        // What is left of a temporary folder does no harm.
        defer { try? FileManager.default.removeItem(at: folder) }
        // A pool has WAL and synchronous=NORMAL.
        let database = try DatabasePool(path: folder.appending(path: "rows.sqlite").path(percentEncoded: false))
        try await database.write { database in
            try database.execute(
                sql: "CREATE TABLE row (id TEXT PRIMARY KEY, user TEXT NOT NULL, expires INTEGER NOT NULL) STRICT")
        }
        let router = Router()
        router.post("/rest/version/1/user/:user/subscription") { request, context -> EditedResponse<String> in
            let body = try await request.decode(as: Body.self, context: context)
            let (id, user) = (UUID().uuidString, try context.parameters.require("user"))
            try await database.write { database in
                try database.execute(
                    sql: "INSERT INTO row (id, user, expires) VALUES (?, ?, ?)",
                    arguments: [id, user, body.subscribeRequest.expires])
            }
            return EditedResponse(status: .created, headers: [.contentType: "application/json"], response: id)
        }
        router.delete("/rest/version/1/user/:user/subscription/:id") { _, context -> HTTPResponse.Status in
            let id = try context.parameters.require("id")
            try await database.write { database in
                try database.execute(sql: "DELETE FROM row WHERE id = ?", arguments: [id])
            }
            return .ok
        }
        let application = Application(router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        try await application.runService()
    }
}
