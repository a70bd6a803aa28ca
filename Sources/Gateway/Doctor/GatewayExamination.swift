import CallRuntime
import Cryptography
import Foundation
import MediaServer
import NIOCore
import NIOPosix
import NIOSSL
import Observability
import Primitives
import PushClient
import SignalingServer
import Sockets
import Storage

/// Looks at everything that keeps a gateway from working, and says what it means: ports, candidates, certificate,
/// limits, clock, database, and what a client outside would see. It changes nothing.
package struct GatewayExamination: Sendable {
    private let configuration: GatewayConfiguration
    private let client: AdminClient?
    private let isExpected: Bool
    /// Where clients reach the gateway; `nil`: nothing is asked from outside.
    private let publicURL: String?

    /// Makes an examination of the gateway of a configuration.
    ///
    /// - Parameters:
    ///   - client: asks its administration interface; `nil`: there is none.
    ///   - isExpected: whether the operator has named the place, so that a gateway should be there.
    ///   - publicURL: where clients reach the gateway; `nil`: nothing is asked from outside.
    package init(
        _ configuration: GatewayConfiguration, asking client: AdminClient?, isExpected: Bool, publicURL: String?
    ) {
        self.configuration = configuration
        self.client = client
        self.isExpected = isExpected
        self.publicURL = publicURL
    }

    /// Looks, and returns what was found, in an order that reads well.
    package func examine() async -> [Finding] {
        var findings = complaints
        let absence = await absence()
        let isRunning = absence == nil
        findings.append(
            absence.map {
                Finding(
                    "gateway", isExpected ? .bad : .look,
                    "It does not run here, or its administration interface is elsewhere: \($0).")
            } ?? Finding("gateway", .good, "It runs: its administration interface answers."))
        if isRunning { findings += await stateOfRunning() }
        findings += await ports(isRunning: isRunning)
        findings += candidates
        findings += certificate
        let media =
            configuration.media.tcpPort == nil
            ? 0 : configuration.workerCount * configuration.media.maximumConnectionsPerWorker
        let listeners = configuration.listen.plainPort == nil ? 1 : 2
        findings.append(
            Diagnosis.openFiles(
                limit: DescriptorLimit.raise(), wanted: configuration.signaling.maxConnections * listeners + media + 512
            ))
        findings.append(Diagnosis.memory(Self.availableMemory))
        findings.append(Diagnosis.clock(isKept: WallTime.isKept))
        findings += database
        findings += push
        if let publicURL { findings += await outside(publicURL) }
        return findings
    }

    // MARK: - Configuration and process

    private var complaints: [Finding] {
        do throws(ConfigurationError) {
            try configuration.check()
            return [Finding("configuration", .good, "The settings fit together.")]
                + configuration.warnings.map { Finding("configuration", .look, $0) }
        } catch {
            return error.problems.map { Finding("configuration", .bad, $0.message) }
        }
    }

    /// Why the gateway seems not to run; `nil`: it runs.
    private func absence() async -> String? {
        guard let client else { return "it has no administration socket" }
        do throws(AdminClient.Failure) {
            _ = try await client.ask("GET", "/drain")
            return nil
        } catch {
            // A gateway that refuses is one that runs.
            return error.code == nil ? error.description : nil
        }
    }

    private func stateOfRunning() async -> [Finding] {
        guard let client else { return [] }
        do throws(AdminClient.Failure) {
            let health = try JSONValue(parsing: try await client.ask("GET", "/health").body)
            let drain = health["drain"].description
            var findings = health["checks"].elements.map {
                Finding($0["name"].description, $0["healthy"] == .flag(true) ? .good : .bad, $0["detail"].description)
            }
            if drain != "serving" { findings.append(Finding("gateway", .look, "It is being drained: \(drain).")) }
            for limit in try JSONValue(parsing: try await client.ask("GET", "/limits").body)["items"].elements {
                guard case (.integer(let most), .integer(let used)) = (limit["limit"], limit["inUse"]),
                    limit["name"].text != "media.workers", used * 10 > most * 8
                else { continue }
                findings.append(Finding("limits", .look, "\(limit["name"]) is nearly reached: \(used) of \(most)."))
            }
            return findings
        } catch {
            return [Finding("gateway", .look, "It does not say how it is: \(error.description)")]
        }
    }

    // MARK: - Ports

    private func ports(isRunning: Bool) async -> [Finding] {
        let listen = configuration.listen
        var findings = [await port("listen.port", listen.host, listen.port, isRunning)]
        if let plain = listen.plainPort {
            findings.append(await port("listen.plain_port", listen.plainHost, plain, isRunning))
        }
        if let host = configuration.admin.host {
            findings.append(await port("admin.port", host, configuration.admin.port, isRunning))
        }
        findings += mediaPorts("media.port", "UDP", from: configuration.media.firstPort, isRunning) {
            place throws(SocketError) in
            _ = try UDPSocket(bind: place)
        }
        if let first = configuration.media.tcpPort {
            findings += mediaPorts("media.tcp_port", "TCP", from: first, isRunning) { place throws(SocketError) in
                _ = try TCPListener(bind: place)
            }
        }
        return findings
    }

    private func port(_ setting: String, _ host: String, _ port: UInt16, _ isRunning: Bool) async -> Finding {
        guard port != 0 else {
            return Finding("ports", .look, "\(setting) is 0: the system chooses another at each start.")
        }
        let reachable = host == "0.0.0.0" ? "127.0.0.1" : host == "::" ? "::1" : host
        let isOpen = await Self.connects(to: reachable, Int(port))
        switch (isRunning, isOpen) {
        case (true, true): return Finding("ports", .good, "\(setting): \(reachable) port \(port) accepts connections.")
        case (true, false):
            return Finding("ports", .bad, "\(setting): nothing accepts connections on \(reachable) port \(port).")
        case (false, true):
            return Finding(
                "ports", .look,
                "\(setting): something listens on \(reachable) port \(port); if it is not the gateway, that will not start."
            )
        case (false, false): return Finding("ports", .good, "\(setting): \(reachable) port \(port) is free.")
        }
    }

    private static func connects(to host: String, _ port: Int) async -> Bool {
        do {
            let channel = try await ClientBootstrap(group: .singletonMultiThreadedEventLoopGroup)
                .connectTimeout(.seconds(3)).connect(host: host, port: port).get()
            try await channel.close().get()
            return true
        } catch {
            return false
        }
    }

    /// - Parameter open: opens the port at an address for a moment, if no other process has it.
    private func mediaPorts(
        _ setting: String, _ transport: String, from first: UInt16, _ isRunning: Bool,
        _ open: (Primitives.SocketAddress) throws(SocketError) -> Void
    ) -> [Finding] {
        // `candidates` says what is wrong with the addresses for media.
        guard first != 0, let media = try? configuration.resolvedMedia() else { return [] }
        var taken: [String] = []
        var failed: [String] = []
        for worker in 0..<configuration.workerCount {
            for address in media.bind {
                let place = SocketAddress(address, port: first &+ UInt16(clamping: worker))
                do throws(SocketError) {
                    try open(place)
                } catch {
                    if error.code == EADDRINUSE {
                        taken.append("\(place)")
                    } else {
                        failed.append("\(place): \(error)")
                    }
                }
            }
        }
        let last = Int(first) + configuration.workerCount - 1
        let count = configuration.workerCount * media.bind.count
        if !failed.isEmpty {
            return [
                Finding("ports", .bad, "media.bind, \(setting): cannot be opened: \(failed.joined(separator: "; "))")
            ]
        }
        if isRunning {
            return [
                taken.count == count
                    ? Finding(
                        "ports", .good,
                        "\(setting): \(transport) \(first) to \(last) is open. A firewall has to let it in.")
                    : Finding(
                        "ports", .bad,
                        "\(setting): only \(taken.count) of \(count) \(transport) sockets of \(first) to \(last) are open."
                    )
            ]
        }
        return [
            taken.isEmpty
                ? Finding(
                    "ports", .good,
                    "\(setting): \(transport) \(first) to \(last) is free. A firewall has to let it in.")
                : Finding("ports", .bad, "\(setting): another process has \(taken.joined(separator: ", ")).")
        ]
    }

    // MARK: - Candidates and certificate

    private var candidates: [Finding] {
        guard configuration.switchboard.media == .anchored else {
            return [Finding("candidates", .look, "media.mode is direct: clients reach each other, or have no media.")]
        }
        do {
            return Diagnosis.candidates(
                try configuration.resolvedMedia().advertise, hasTCP: configuration.media.tcpPort != nil,
                hasTURN: configuration.turnSecretPath != nil)
        } catch {
            return [Finding("candidates", .bad, "\(error)")]
        }
    }

    private var certificate: [Finding] {
        guard configuration.tls.mode == .on else {
            return [
                Finding(
                    "certificate", .look, "tls.mode is off: a proxy has to do TLS, or passwords travel unencrypted.")
            ]
        }
        guard let path = configuration.tls.certificate else {
            return [
                Finding("certificate", .look, "It is made at the start, for trying things out; browsers warn of it.")
            ]
        }
        // `complaints` says what is wrong with the file.
        guard let chain = try? NIOSSLCertificate.fromPEMFile(path), let own = chain.first else { return [] }
        let now = Int(WallTime.unixNanoseconds / 1_000_000_000)
        return Diagnosis.certificate(
            names: own.names, isValidYet: own.notValidBefore <= now, remaining: .seconds(own.notValidAfter - now),
            chain: chain.count, isSelfSigned: own.isSelfSigned)
    }

    private var push: [Finding] {
        var accounts = configuration.push.configuration.applications.map { AppAccounts($0) }
        let problems = accounts?.refresh() ?? []
        return Diagnosis.push(
            configuration.push, appProblems: problems.map(\.reason),
            isReadable: FileManager.default.isReadableFile(atPath:))
    }

    // MARK: - Machine

    private static var availableMemory: Int? {
        // Where the kernel does not tell, nothing is said of memory.
        guard let text = try? String(contentsOfFile: "/proc/meminfo", encoding: .utf8),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("MemAvailable:") }),
            let kilobytes = line.split(separator: " ").dropFirst().first.flatMap({ Int($0) })
        else { return nil }
        return kilobytes * 1_024
    }

    private var database: [Finding] {
        guard !configuration.isDevelopment else { return [] }
        do throws(StorageError) {
            return Diagnosis.database(configuration.storagePath, try DatabaseExamination(configuration.storagePath))
        } catch {
            return [Finding("database", .bad, "\(error).")]
        }
    }

    // MARK: - Outside

    private func outside(_ url: String) async -> [Finding] {
        do throws(AdminClient.Failure) {
            let client = AdminClient(try AdminClient.place(url: url, port: nil), token: nil, root: "")
            var findings: [Finding] = []
            _ = try await client.ask("GET", "/health")
            findings.append(
                Finding("outside", .good, "\(url)/health answers, and the certificate is accepted for that name."))
            do throws(AdminClient.Failure) {
                _ = try await client.ask("GET", "/ready")
                findings.append(Finding("outside", .good, "\(url)/ready answers: new clients are taken."))
            } catch {
                findings.append(
                    Finding("outside", .bad, "\(url)/ready does not take new clients: \(error.description)"))
            }
            do throws(AdminClient.Failure) {
                _ = try await client.ask("GET", "/metrics")
                findings.append(Finding("outside", .look, "\(url)/metrics is open to everybody."))
            } catch {
                findings.append(Finding("outside", .good, "\(url)/metrics is not shown there."))
            }
            return findings + [try await webSocket(client, url)]
        } catch {
            return [
                Finding(
                    "outside", .bad,
                    "\(url) does not answer as seen from this machine: \(error.description). Clients see the same unless names or routes differ here."
                )
            ]
        }
    }
}

extension GatewayExamination {
    /// Whether requests for a WebSocket get through to the gateway. It has no channel of that name, and says so.
    private func webSocket(_ client: AdminClient, _ url: String) async throws(AdminClient.Failure) -> Finding {
        let channel = "/rest/version/1/user/doctor@orbweaver.invalid/websocket/none"
        switch try await client.askForWebSocket(channel) {
        case 404: return Finding("outside", .good, "\(url) lets requests for a WebSocket through.")
        case 426:
            return Finding(
                "outside", .bad,
                "\(url) keeps back that a WebSocket is asked for: a proxy there must pass on Connection and Upgrade.")
        case let status:
            return Finding("outside", .bad, "\(url) answers a request for a WebSocket with status \(status).")
        }
    }
}

extension NIOSSLCertificate {
    /// The hosts that the certificate is for (RFC 5280 §4.2.1.6).
    fileprivate var names: [String] {
        _subjectAlternativeNames().compactMap { name in
            switch name.nameType {
            case .dnsName: String(validating: name.contents, as: UTF8.self)
            case .ipAddress: IPAddress(certificateBytes: Array(name.contents))?.description
            default: nil
            }
        }
    }

    fileprivate var isSelfSigned: Bool {
        // A certificate that was read can be written; one that cannot is not told to be self-signed.
        (try? toDERBytes()).flatMap { Certificate.isSelfIssued(der: $0) } ?? false
    }
}

extension IPAddress {
    /// Reads an address as certificates have it: 4 or 16 bytes in network order.
    fileprivate init?(certificateBytes bytes: [UInt8]) {
        func number(_ bytes: ArraySlice<UInt8>) -> UInt64 { bytes.reduce(0) { $0 << 8 | UInt64($1) } }
        switch bytes.count {
        case 4: self.init(v4: UInt32(number(bytes[...])))
        case 16: self.init(v6: number(bytes[..<8]), number(bytes[8...]))
        default: return nil
        }
    }
}
