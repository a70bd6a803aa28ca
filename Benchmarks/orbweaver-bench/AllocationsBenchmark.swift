import ArgumentParser
import Foundation

/// Holds the allocations of the media path against the budgets in a file.
///
/// What is counted does not depend on the machine's load: the relay is sent one packet at a time, so that each is a
/// round of the worker's loop, and of many stretches of packets the one counts in which no timer ran; a mix runs in
/// virtual time. A debug build allocates where a release build does not,
/// but as regularly: a line that allocates shows in both.
struct AllocationsBenchmark: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "allocations",
        abstract: "Heap allocations of the media path, held against the budgets of the kind of build that this is.",
        discussion: "Ends with an error if there are more of them than the file allows, or if it has another list.")

    @Option(help: "The budgets, as JSON.")
    var budgets = "Tests/allocation-budgets.json"

    @Option(help: "Packets and cycles that are measured, after a tenth of as many.")
    var count = 2_000

    /// Allocations by what is measured.
    typealias Budgets = [String: Double]

    func validate() throws {
        guard 100...1_000_000 ~= count else { throw ValidationError("100 to 1,000,000 packets can be measured") }
    }

    func run() throws {
        let kinds = try JSONDecoder().decode(
            [String: Budgets].self, from: try Data(contentsOf: URL(fileURLWithPath: budgets)))
        guard let allowed = kinds[Self.kind] else { throw ValidationError("\(budgets) has no \(Self.kind) build") }
        let measured = try measure()
        guard Set(measured.keys) == Set(allowed.keys) else {
            throw ValidationError("\(budgets) is about \(allowed.keys.sorted()), not \(measured.keys.sorted())")
        }
        var isOver = false
        for (name, figure) in measured.sorted(by: { $0.key < $1.key }) {
            let budget = allowed[name] ?? 0
            isOver = isOver || figure > budget
            print(
                String(
                    format: "%@: %.4f allocations, at most %.4f in a %@ build%@", name, figure, budget, Self.kind,
                    figure > budget ? ": OVER" : ""))
        }
        if isOver { throw ExitCode.failure }
    }

    private static var kind: String {
        #if DEBUG
            "debug"
        #else
            "release"
        #endif
    }

    private func measure() throws -> Budgets {
        let relay = RelayLoop(packets: count, burst: 1)
        return [
            "relay, per packet of 172 bytes": try relay.measure(size: 172).leastAllocations,
            "relay, per packet of 1200 bytes": try relay.measure(size: 1_200).leastAllocations,
            "mix of 3, per leg and 20 ms": try mix(),
        ]
    }

    private func mix() throws -> Double {
        let legs = 3
        let payloads = try BareOpus.encode(SpeechSignal.samples(seconds: 1))
        let mix = try MixLoop(legs: legs, payloads: payloads, channels: 1)
        mix.run(cycles: count / 10)
        let thread = try ThreadProbe()
        let before = thread.allocations
        // Every cycle costs a hundred times what a packet costs.
        mix.run(cycles: count / 10)
        return Double(thread.allocations - before) / Double(legs * (count / 10))
    }
}
