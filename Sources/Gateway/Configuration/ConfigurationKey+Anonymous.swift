import CallControl
import CallRuntime
import Registration
import SignalingServer

extension ConfigurationKey {
    /// Guests: callers without an account.
    static let anonymous = [
        ConfigurationKey(
            "anonymous", "mode", \.signaling.guests.policy.mode, .choice,
            "Whether callers without an account are admitted: open admits everybody to every account, token only callers with a token of a realm."
        ),
        ConfigurationKey(
            "anonymous", "realms_file", \.callMeRealmsPath, ValueFormat.path.orNone("none", "only without mode token"),
            "File with one realm per line: name, hs256 or aes-128-ecb or aes-256-cbc, key in hex, and for CBC a fixed vector in hex unless tokens begin with theirs."
        ),
        ConfigurationKey(
            "anonymous", "token_window", \.signaling.guests.policy.tokenWindow,
            .duration(.seconds(1)...(.seconds(86_400))),
            "How far the time in a token may be from the gateway's when a subscription or call starts with it."),
        ConfigurationKey(
            "anonymous", "maximum", \.switchboard.guests.maximumGuests, .count(1...100_000), "Guests at a time."),
        ConfigurationKey(
            "anonymous", "max_per_account", \.switchboard.guests.maximumPerAccount, .count(1...100_000),
            "Of these, guests who came to call the same account."),
        ConfigurationKey(
            "anonymous", "max_per_network", \.switchboard.guests.maximumPerNetwork, .count(1...100_000),
            "Guests at a time from the same IPv4 address or IPv6 /64."),
        ConfigurationKey(
            "anonymous", "first_call", \.switchboard.guestFirstCallTime, .duration(.seconds(1)...(.seconds(86_400))),
            "A guest that has not called within this time is gone."),
        ConfigurationKey(
            "anonymous", "maximum_expires", \.switchboard.maximumGuestExpires,
            .duration(.seconds(10)...(.seconds(86_400))),
            "A guest whose subscription is not extended for this long is gone."),
        ConfigurationKey(
            "anonymous", "network_requests", \.signaling.guests.throttle.network.burst, .count(1...100_000),
            "Subscriptions, calls and wrong tokens of guests in a row per IPv4 address or IPv6 /64."),
        ConfigurationKey(
            "anonymous", "network_interval", \.signaling.guests.throttle.network.interval,
            .duration(.milliseconds(100)...(.seconds(3_600))),
            "After this time one more of them is allowed from a network."),
    ]
}
