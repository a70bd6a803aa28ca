import ArgumentParser
import BenchValues
import Foundation
import Primitives
import Sockets

struct BesideBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "beside",
        abstract:
            "Calls through Orbweaver, rtpengine and Janus, in turns and with the same peers (docs/comparison.md).",
        discussion: """
            Each server is a process of its own on core 0, started anew for each figure; the peers are in this process
            on core 1. Every leg is WebRTC: ICE, DTLS and SRTP. Counted is the CPU of the server's processes, ended
            threads included. A peer sends 160 bytes of PCMU every 20 ms, with the time in them. What is not installed
            is left out, and a line says so. Rounds in which the peers were late or lossy are left out of costs, as in
            load.

            Orbweaver refuses new calls once its media worker is busy (media.max_load). So calls that stand talk while
            further ones are asked for; those that are refused are counted, and costs and losses are those of the calls
            that stand. The other servers take every call.
            """)

    @Option(help: "The gateway's program.")
    var gateway = ".build/release/orbweaver"

    @Option(help: "The program of rtpengine (Debian: rtpengine-daemon); by itself, the one in /usr/bin or /usr/sbin.")
    var rtpengine: String?

    @Option(help: "The program of Janus (Debian: janus).")
    var janus = "/usr/bin/janus"

    @Option(parsing: .upToNextOption, help: "How many calls stand at a time: one comparison each, at most 1000.")
    var calls = [10, 100, 400, 1_000]

    @Option(help: "Seconds of media per figure, at most 60.")
    var seconds = 8

    @Option(help: "Calls that are set up and hung up one after the other in each round, at most 1000; 0: none.")
    var setups = 100

    @Flag(help: "The callee checks, and starts its handshake, 5 ms before it answers.")
    var calleeChecksFirst = false

    @Option(help: "Rounds, at most 20; the servers take turns, and what is told is the median.")
    var rounds = 3

    @Option(help: "The IPv4 address of this machine where media is; by itself, the first that is not loopback.")
    var address: String?

    func validate() throws {
        guard !calls.isEmpty, calls.allSatisfy({ 1...1_000 ~= $0 }), 1...60 ~= seconds, 0...1_000 ~= setups,
            1...20 ~= rounds
        else { throw ValidationError("that many cannot be measured") }
    }

    func run() async throws {
        let programs = ServerPrograms(
            orbweaver: gateway, rtpengine: rtpengine ?? ServerPrograms.installedRTPEngine, janus: janus,
            address: try address ?? ServerPrograms.ownAddress())
        var kinds: [ServerKind] = []
        var absences: [String] = []
        for kind in ServerKind.allCases {
            guard let absence = kind.absence(programs) else {
                kinds.append(kind)
                continue
            }
            // A server may be there in several settings.
            if !absences.contains(absence) { absences.append(absence) }
        }
        for absence in absences { print(absence) }
        try Cores.keepGenerator()
        for kind in kinds {
            do { _ = try await stand(kind, programs, 1, seconds: 1) } catch {
                print("\(kind.rawValue) is left out, since a first call through it failed: \(error)")
                kinds.removeAll { $0 == kind }
            }
        }
        guard !kinds.isEmpty else { throw ValidationError("there is no server to measure") }
        let counts = calls.sorted()
        var figures = BesideFigures(kinds: kinds, calls: counts)
        for round in 0..<rounds {
            // Nobody is always the first one.
            let turn = kinds.indices.map { kinds[($0 + round) % kinds.count] }
            for count in counts {
                for kind in turn {
                    let stood = try await stand(kind, programs, count, seconds: seconds)
                    figures.add(stood, of: kind, calls: count)
                }
            }
            guard setups > 0 else { continue }
            for kind in turn {
                let setUp = try await self.setUp(kind, programs)
                figures.add(setUp, of: kind)
            }
        }
        for line in figures.lines { print(line) }
    }

    // MARK: Calls that stand

    private func stand(
        _ kind: ServerKind, _ programs: ServerPrograms, _ count: Int, seconds: Int
    ) async throws -> StandingRound {
        let server = try await kind.start(programs)
        defer { server.stop() }
        let peers = try LoadPeers()
        // A call that does not connect is replaced; it may happen once in ten calls.
        try await server.prepare(count + Self.spare(count))
        let empty = server.process.proportionalBytesOfTree
        peers.talkMeanwhile = kind.refusesCalls
        var standing = 0
        for _ in 0..<count {
            do {
                _ = try await connected(through: server, peers, spare: Self.spare(count))
                standing += 1
            } catch is CallRefused { try peers.talk(for: Self.pause) }
        }
        guard standing > 0 else { throw ValidationError("\(kind.rawValue) has refused all calls") }
        // The first second meets cold caches and new tables.
        _ = try peers.stream(for: .seconds(1))
        let cpu = server.process.cpuNanosecondsOfTree()
        let traffic = try peers.stream(for: .seconds(seconds))
        let spent = server.process.cpuNanosecondsOfTree() - cpu
        return StandingRound(
            microsecondsPerCallSecond: Double(spent) / 1_000 / Double(standing * seconds),
            standing: standing, refused: count - standing, emptyBytes: empty,
            bytes: server.process.proportionalBytesOfTree, traffic: traffic, profiles: peers.profiles)
    }

    /// How long after a call that was refused the next one is asked for.
    private static let pause = Duration.milliseconds(20)

    private static func spare(_ count: Int) -> Int { max(1, count / 10) }

    /// A call whose peers have keys, the peers, and how many calls before it never connected.
    private func connected(
        through server: any ServerBeside, _ peers: LoadPeers, spare: Int
    ) async throws -> (call: AgreedCall, caller: LoadPeer, callee: LoadPeer, failed: Int) {
        for failed in 0...spare {
            let (caller, callee) = (peers.add(), peers.add())
            let call: AgreedCall
            do {
                call = try await server.agree(on: caller, callee) { offer in
                    try peers.talk()
                    guard calleeChecksFirst else { return }
                    try learn(callee, offer)
                    try peers.check(callee, for: .milliseconds(5))
                }
            } catch {
                for peer in [caller, callee] { peer.isRetired = true }
                throw error
            }
            try peers.talk()
            try learn(caller, call.toCaller)
            try learn(callee, call.toCallee)
            do {
                try peers.connect([caller, callee])
                return (call, caller, callee, failed)
            } catch {
                for peer in [caller, callee] { peer.isRetired = true }
                try await server.hangUp(call)
            }
        }
        throw ValidationError("\(spare + 1) calls in turn did not connect")
    }

    private func learn(_ peer: LoadPeer, _ description: String) throws {
        let described = try PeerDescriptions.gateway(in: description)
        peer.learn(described.credentials)
        peer.destination = described.address
    }

    // MARK: Calls that are set up

    /// Calls that nothing is counted of: they meet cold caches.
    private static let warmUp = 5

    private func setUp(_ kind: ServerKind, _ programs: ServerPrograms) async throws -> SetUpRound {
        let server = try await kind.start(programs)
        defer { server.stop() }
        let peers = try LoadPeers()
        let spare = Self.spare(setups)
        try await server.prepare(Self.warmUp + setups + spare)
        var round = SetUpRound()
        var cpu = server.process.cpuNanosecondsOfTree()
        for number in 0..<(Self.warmUp + setups) {
            if number == Self.warmUp {
                round = SetUpRound()
                cpu = server.process.cpuNanosecondsOfTree()
            }
            let start = MonotonicClock.now
            let call = try await connected(through: server, peers, spare: max(0, spare - round.failed))
            try peers.awaitMedia(at: [call.caller, call.callee])
            if call.failed == 0 { round.delays.record(nanoseconds: (MonotonicClock.now - start).nanoseconds) }
            round.failed += call.failed
            for peer in [call.caller, call.callee] { peer.isRetired = true }
            try await server.hangUp(call.call)
        }
        // What the last calls caused is still on its way.
        try await Task.sleep(for: .milliseconds(100))
        round.microsecondsPerCall =
            Double(server.process.cpuNanosecondsOfTree() - cpu) / 1_000 / Double(setups + round.failed)
        round.profiles = peers.profiles
        return round
    }
}
