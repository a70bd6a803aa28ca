import CallSupport
import Testing

/// Everything that can happen to a subscription, in every order.
struct RegistrationExplorationTests {
    /// A subscription, while the requests, the socket and the other devices of its user come and go.
    @Test func `a subscription ends once, and its socket with it`() throws {
        var chart = StateChart("A subscription")
        let exploration = try Exploration(of: [RegistrationExplorer()], depth: 9) {
            chart.note($0.cause(of: $1, $2), from: $0.word, to: $2.word)
        }
        print("a subscription: \(exploration)")
        #expect(exploration.states > 1_000)
        let stale = try ExplorationTable.fault(in: "a subscription", [exploration])
        #expect(stale == nil)
        let fault = try ExpectedDocument(
            "call-states/registration.md", title: "A registration",
            [
                "What each subscription of a user goes through. What holds back the last notification is a request that has not "
                    + "been answered.",
                chart.section(["none", "active", "expired", "ending", "removed"]),
            ]
        ).fault()
        #expect(fault == nil)
    }
}
