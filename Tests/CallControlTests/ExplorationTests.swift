import CallControl
import Testing

/// Every interleaving of what the parties of calls do, and of messages between the calls.
struct ExplorationTests {
    /// One call, until nothing new is found: double hold, offers that meet, a transfer and its outcome, one inside the other.
    @Test(arguments: HoldTests.pairings)
    func `nothing that two parties and a target do leads astray`(_ alice: HoldDialect, _ others: HoldDialect) throws {
        try explore(CallExplorer(alice: alice, others: others, isFocused: true), depth: 60, "one call, \(alice.rawValue) and \(others.rawValue)")
    }

    /// Two calls of one user, with consultation and conference.
    @Test func `nothing that three parties of two calls do leads astray`() throws {
        try explore(CallExplorer(alice: .sendOnly, others: .inactive), depth: 6, "two calls")
    }

    private func explore(_ start: CallExplorer, depth: Int, _ name: String) throws {
        var frontier = [start]
        var known: Set<String> = [start.key]
        var transitions = 0
        var steps = 0
        while steps < depth, !frontier.isEmpty {
            steps += 1
            var next: [CallExplorer] = []
            for explorer in frontier {
                for step in explorer.steps {
                    var walker = explorer
                    guard try walker.take(step) else { continue }
                    transitions += 1
                    try walker.check()
                    if known.insert(walker.key).inserted { next.append(walker) }
                }
            }
            frontier = next
        }
        print("\(name): \(known.count) states and \(transitions) transitions in \(steps) steps, \(frontier.count) states at the end")
        #expect(known.count > 100)
    }
}
