import CallControl
import CallRuntime
import Primitives
import Registration

extension ConfigurationKey {
    /// Messages between users.
    static let messages = [
        ConfigurationKey(
            "messages", "per_user", \.switchboard.registration.messages.rate.burst, .count(1...1_000_000),
            "Messages in a row that one user may send; a change of the presence counts as one."),
        ConfigurationKey(
            "messages", "interval", \.switchboard.registration.messages.rate.interval,
            .duration(.milliseconds(1)...(.seconds(3_600))),
            "After this time a user may send one more."),
        ConfigurationKey(
            "messages", "max_length", \.switchboard.registration.messages.maximumLength, .count(1...16_384),
            "Bytes of the text of a message; a longer one is refused with 413."),
        ConfigurationKey(
            "messages", "kept_per_user", \.switchboard.registration.messages.capacity, .count(0...10_000),
            "Messages kept for one user who is away, at most half of them of one sender."),
        ConfigurationKey(
            "messages", "kept_total", \.switchboard.maximumKeptMessages, .count(0...1_000_000),
            "Messages kept for all users together."),
        ConfigurationKey(
            "messages", "kept_age", \.switchboard.registration.messages.maximumAge,
            .duration(.seconds(1)...(.seconds(365 * 86_400))),
            "How long a message is kept for a user who does not come."),
    ]

    /// Presence, and subscriptions to events.
    static let presence = [
        ConfigurationKey(
            "presence", "watch_time", \.switchboard.registration.interests.watchTime, .duration(watchTimes),
            "How long the presence of others is told after a request to watch; clients renew it at half of that."),
        ConfigurationKey(
            "presence", "minimum_event_expires", \.switchboard.registration.interests.minimumEventTime,
            .duration(watchTimes), "Subscriptions to events for a shorter time are raised to this."),
        ConfigurationKey(
            "presence", "maximum_event_expires", \.switchboard.registration.interests.maximumEventTime,
            .duration(watchTimes), "Subscriptions to events for a longer time are lowered to this."),
        ConfigurationKey(
            "presence", "max_watched", \.switchboard.registration.interests.maximumWatched, .count(1...100_000),
            "Users whom one user may watch."),
        ConfigurationKey(
            "presence", "max_watchers", \.switchboard.registration.interests.maximumWatchers, .count(1...1_000_000),
            "Users who may watch one user."),
        ConfigurationKey(
            "presence", "max_event_subscriptions",
            \.switchboard.registration.interests.maximumEventSubscriptions, .count(1...1_000),
            "Subscriptions to events that one user may have."),
    ]

    private static let watchTimes = Duration.seconds(1)...(.seconds(7 * 86_400))
}
