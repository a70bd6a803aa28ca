import CallControl
import Registration

extension Notice {
    /// A caller's device rings, and says what it hears before the answer if there is a description.
    static func aliceHears(_ description: String?) -> Notice {
        let audience = CallEvent.Audience(
            devices: [], session: SessionID("A1"), local: DisplayName(name: "Alice", number: "alice@example.com"),
            remote: .user(DisplayName(name: "Bob", number: "bob@example.com")), isCalled: false)
        let event = CallEvent(.caller, description.map { .progressed(description: $0) } ?? .alerted, to: audience)
        return .call(LoggedEvent(call: CallID(1), sequence: 1, startedAt: 0, elapsed: .zero, event: event))
    }
}
