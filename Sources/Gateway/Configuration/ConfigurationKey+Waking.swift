import CallControl
import CallRuntime
import Primitives
import Registration

extension ConfigurationKey {
    /// How calls wake devices by push.
    static let waking = [
        ConfigurationKey(
            "push", "ringing", \.switchboard.call.wakingProgress, .choice,
            "When a caller is told that the callee rings: as devices are woken (at-once), or once a device rings (when-awake)."
        ),
        ConfigurationKey(
            "push", "wakes_per_user", \.switchboard.registration.wakes.perUser.burst, .count(1...1_000_000),
            "Calls in a row that wake the devices of one user; further ones let them sleep."),
        ConfigurationKey(
            "push", "wake_interval", \.switchboard.registration.wakes.perUser.interval,
            .duration(.milliseconds(1)...(.seconds(86_400))),
            "After this time one more call wakes the devices of the user."),
        ConfigurationKey(
            "push", "wakes_per_caller", \.switchboard.registration.wakes.perCaller.burst, .count(1...1_000_000),
            "The same for the calls of one account, of one application, or of guests from one network, to one user."),
        ConfigurationKey(
            "push", "caller_wake_interval", \.switchboard.registration.wakes.perCaller.interval,
            .duration(.milliseconds(1)...(.seconds(86_400))),
            "After this time one more call of the caller wakes the devices of the user."),
        ConfigurationKey(
            "push", "wakes_of_guests", \.switchboard.registration.wakes.guests.burst, .count(1...1_000_000),
            "The same for the calls of all guests to one user."),
        ConfigurationKey(
            "push", "guests_wake_interval", \.switchboard.registration.wakes.guests.interval,
            .duration(.milliseconds(1)...(.seconds(86_400))),
            "After this time one more call of a guest wakes the devices of the user."),
    ]
}
