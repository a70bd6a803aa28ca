import CallControl
import CallSupport
import Primitives
import TestSupport
import Testing

/// What the event logs of calls can be made into, after anything that their users do.
struct EventReplayTests {
    /// Two calls of one user: hold, cameras, transfers, joins, another device, ends, and time-outs, in any order that
    /// the clients and the calls permit. One of the parties may be an application.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `the logs of calls that meet replay to the same timelines, records and notifications`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        var taken: Set<String> = []
        for _ in 0..<40 {
            let (alice, others) = HoldTests.pairings.randomElement(using: &random)!
            let applications = [[], [CallExplorer.carol], [CallExplorer.dave]].randomElement(using: &random)!
            let scope = [CallExplorer.Scope.everything, .twoCalls].randomElement(using: &random)!
            var walk = try CallExplorer(
                scope, alice: alice, others: others, applications: Set(applications), keepsLogs: true)
            for _ in 0..<40 {
                guard let step = walk.steps.randomElement(using: &random) else { break }
                if try walk.take(step) { taken.insert(String("\(step)".prefix { $0 != " " })) }
                try walk.check()
            }
            let logs = try #require(walk.world.logs)
            #expect(logs.count >= 2)
            for log in logs.values { try log.expectToReplay() }
        }
        #expect(taken.isSuperset(of: ["hold", "video", "ask", "move", "end", "transfer", "consult", "join", "wait"]))
    }
}
