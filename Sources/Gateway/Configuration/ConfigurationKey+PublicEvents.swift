import Primitives
import Storage

extension ConfigurationKey {
    /// Events of calls for other programs.
    static let events = [
        ConfigurationKey(
            "events", "age", \.journal.eventAge, .duration(.seconds(60)...(.seconds(365 * 86_400))),
            "How long an event of a call is kept for programs that come back."),
        ConfigurationKey(
            "events", "count", \.journal.events, .count(0...100_000_000),
            "Events of calls that are kept for them; the oldest make room. 0: the latest 4096, in memory."),
    ]
}
