import CallControl
import CallRuntime
import Primitives
import Registration
import Storage

extension ConfigurationKey {
    /// How calls are handled, and what is kept of them.
    static let calls = [
        ConfigurationKey("calls", "maximum", \.switchboard.maximumCalls, .count(1...1_000_000), "Calls at a time."),
        ConfigurationKey(
            "calls", "max_per_user", \.switchboard.registration.maximumLegs, .count(1...1_000_000),
            "Calls of one user at a time, dialled, ringing and answered."),
        ConfigurationKey(
            "calls", "max_ringing_per_user", \.switchboard.registration.maximumRinging, .count(1...1_000_000),
            "Unanswered calls that ring at one user at a time, at most half of them by one caller; further callers find the user busy."
        ),
        ConfigurationKey(
            "calls", "starts_per_user", \.switchboard.registration.callRate.burst, .count(1...1_000_000),
            "Calls in a row that one user may start, transfer or forward."),
        ConfigurationKey(
            "calls", "start_interval", \.switchboard.registration.callRate.interval,
            .duration(.milliseconds(1)...(.seconds(3_600))),
            "After this time a user may start one more."),
        ConfigurationKey(
            "calls", "ring_time", \.switchboard.call.ringTime, .duration(.seconds(5)...(.seconds(600))),
            "How long an unanswered call rings."),
        ConfigurationKey(
            "calls", "media_setup_time", \.switchboard.call.mediaSetupTime, .duration(.seconds(5)...(.seconds(300))),
            "From the answer until both legs have keys; then the call is given up."),
        ConfigurationKey(
            "calls", "offer_time", \.switchboard.call.offerTime, .duration(.seconds(1)...(.seconds(300))),
            "How long a client may take to answer an offer within a call; then everything is as before it."),
        ConfigurationKey(
            "calls", "client_timeout", \.switchboard.call.clientTimeout,
            ValueFormat.duration(.seconds(1)...(.seconds(86_400))).orNone("off", "it is waited for for ever"),
            "A client of an answered call that makes no request for so long, and has no channel or audits no more, is gone."
        ),
        ConfigurationKey(
            "calls", "max_duration", \.switchboard.call.maximumDuration,
            ValueFormat.duration(.seconds(1)...(.seconds(30 * 86_400))).orNone(
                "off", "a call lasts until a party ends it"),
            "How long a call may last after its answer; then the gateway ends it."),
        ConfigurationKey(
            "calls", "headless_duration", \.switchboard.call.headlessDuration,
            .duration(.seconds(1)...(.seconds(86_400))),
            "The same for a call in which only applications inside the gateway talk, which never hang up."),
        ConfigurationKey(
            "calls", "completion_time", \.switchboard.call.completionTime, .duration(.seconds(1)...(.seconds(300))),
            "How long a client whose call was handed over, by transfer or conference, has to end it; then its session is forgotten."
        ),
        ConfigurationKey(
            "calls", "max_text_length", \.switchboard.call.maximumTextLength, .count(0...4_096),
            "Characters of a display name or a reason that are passed on."),
        ConfigurationKey(
            "calls", "busy", \.switchboard.busy, .choice,
            "A user who has a call already is rung all the same (ring), or the new caller is told that the user is busy, 486 (reject)."
        ),
        ConfigurationKey(
            "calls", "early_media", \.switchboard.call.earlyMedia, .earlyMedia,
            "What callers that list earlymedia hear before the answer; off: what their own device plays."),
        ConfigurationKey(
            "calls", "music_on_hold", \.switchboard.call.playsMusicOnHold, .onOrOff,
            "Whether a party that is kept waiting hears music."),
        ConfigurationKey(
            "calls", "log_per_user", \.journal.recordsPerUser, .count(0...10_000),
            "Records of past calls kept for each user."),
        ConfigurationKey(
            "calls", "log_total", \.journal.records, .count(0...10_000_000),
            "Records of past calls kept for all users together."),
        ConfigurationKey(
            "calls", "log_age", \.journal.recordAge, .duration(.seconds(3_600)...(.seconds(3_650 * 86_400))),
            "How long the record of a call is kept after its end."),
        ConfigurationKey(
            "calls", "event_log", \.eventLogPath, ValueFormat.path.orNone("none", "events are not kept"),
            "File that every event of every call is appended to, one JSON object per line (docs/call-events.md)."),
    ]
}

extension ValueFormat<Playback?> {
    /// What a caller hears before the answer. A file starts again at its end. The ringback tone is the only tone.
    static let earlyMedia = ValueFormat(
        "ringback, file:NAME with a file of media.folder, or off",
        parseText: { text -> Playback?? in
            switch text {
            case "off": return .some(nil)
            case "ringback": return .some(Playback(.tone(.ringback)))
            default:
                let name = text.dropFirst("file:".count)
                return text.hasPrefix("file:") && !name.isEmpty
                    ? .some(Playback(.file(String(name)), repeats: true)) : nil
            }
        },
        writeText: { playback in
            switch playback?.source {
            case nil: "off"
            case .tone: "ringback"
            case .music: "music"
            case .file(let name): "file:\(name)"
            }
        })
}
