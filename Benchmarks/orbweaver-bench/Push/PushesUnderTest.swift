import ArgumentParser
import Foundation
import Glibc
import Logging
import Observability
import Push
import PushClient
import Synchronization

/// A push client in this process, and what its threads and its pushes cost.
final class PushesUnderTest {
    /// What has become of pushes that were handed over at once.
    struct Figures {
        /// CPU time of the client's threads.
        var nanoseconds: UInt64
        /// Wall time from the first push handed over to the last outcome.
        var elapsed: Duration
        var delivered: Int
        var overloaded: Int
        /// Resident memory of the process before, at most, and after, in bytes.
        var memory: (before: Int, most: Int, after: Int)
    }

    private let client: PushClient
    private let metrics = GatewayMetrics(version: "bench", startTime: 0)
    private let sample: PushSample
    private let threads: [ThreadProbe]
    private var number = 0

    init(_ configuration: PushConfiguration, _ sample: PushSample) throws {
        client = try PushClient(
            configuration, metrics: metrics,
            logger: Logger(label: "bench") { _ in SwiftLogNoOpLogHandler() })
        self.sample = sample
        // A new thread needs a moment until it has its name.
        var probes: [ThreadProbe] = []
        for _ in 0..<100 where probes.count < 2 {
            usleep(10_000)
            probes = ["push", "push-providers"].compactMap(ThreadProbe.init(named:))
        }
        guard probes.count == 2 else { throw ValidationError("the push client's threads were not found") }
        threads = probes
    }

    func stop() { client.shutDown() }

    /// Hands over pushes at once, and waits for all outcomes.
    ///
    /// - Throws: `ValidationError` if they take more than a minute, if one is sent twice, or if one ends otherwise than
    ///   delivered or given up because too many wait.
    func send(_ count: Int) async throws -> Figures {
        let outcomes = PushOutcomes()
        let before = Self.residentBytes
        var most = before
        let cpu = nanoseconds
        let requests = metrics.pushRequests[.apple].value
        let start = ContinuousClock.now
        for _ in 0..<count {
            number += 1
            client.send(sample.message(number), to: sample.registration) { outcome, _ in outcomes.add(outcome) }
        }
        while outcomes.counts.all < count {
            most = max(most, Self.residentBytes)
            guard ContinuousClock.now - start < .seconds(60) else {
                throw ValidationError("after a minute \(count - outcomes.counts.all) of \(count) pushes had not ended")
            }
            try await Task.sleep(for: .milliseconds(2))
        }
        let counts = outcomes.counts
        if let other = counts.other { throw ValidationError("a push was not delivered: \(other)") }
        let sent = Int(metrics.pushRequests[.apple].value - requests)
        guard sent == counts.delivered else {
            throw ValidationError("\(counts.delivered) pushes were delivered by \(sent) requests")
        }
        return Figures(
            nanoseconds: nanoseconds - cpu, elapsed: ContinuousClock.now - start, delivered: counts.delivered,
            overloaded: counts.overloaded, memory: (before, most, Self.residentBytes))
    }

    private var nanoseconds: UInt64 { threads.reduce(0) { $0 + $1.cpuNanoseconds } }

    /// Memory of this process that is resident, in bytes (proc(5), statm).
    private static var residentBytes: Int {
        let text = (try? String(contentsOfFile: "/proc/self/statm", encoding: .utf8)) ?? ""
        let pages = text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? 0
        return pages * sysconf(Int32(_SC_PAGESIZE))
    }
}

/// Counts outcomes, which arrive on the client's thread.
private final class PushOutcomes: Sendable {
    struct Counts {
        var delivered = 0
        var overloaded = 0
        /// Whether there were others, and the first of them.
        var other: PushOutcome?
        var all = 0
    }

    private let state = Mutex(Counts())

    var counts: Counts { state.withLock { $0 } }

    func add(_ outcome: PushOutcome) {
        state.withLock { counts in
            counts.all += 1
            switch outcome {
            case .delivered: counts.delivered += 1
            case .givenUp(.overloaded): counts.overloaded += 1
            case .registrationDead, .givenUp: counts.other = counts.other ?? outcome
            }
        }
    }
}
