package import SDP

extension Call {
    /// The times, limits and policies of a call.
    package struct Configuration: Equatable, Sendable {
        /// How long the callee's devices ring.
        package var ringTime: Duration
        /// How long a call lasts whose callee has no device to ring; at most a second. Web clients know a new call only
        /// some time after the answer to a start (185 ms were measured), and ignore its end before that (spidr-wire
        /// §12.1).
        package var unreachableTime = Duration.milliseconds(250)
        /// How long the legs of an anchored call may take from the answer until their keys are agreed. The media plane
        /// has shorter timers that say more exactly what went wrong; this one is the last resort.
        package var mediaSetupTime: Duration
        /// How long a client may take to answer an offer within a call.
        package var offerTime: Duration
        /// How long the client of a leg that was handed over may take to end its call.
        package var completionTime: Duration
        /// How long a leg may go without a request, audits included, if it has no open channel or has audited before;
        /// `nil`: without limit.
        package var clientTimeout: Duration?
        /// How long a call may last after its answer; `nil`: without limit.
        package var maximumDuration: Duration?
        /// How long a call may last, after its answer, in which only applications inside the gateway talk. None of them
        /// would ever hang up. It is not longer than `maximumDuration`.
        package var headlessDuration: Duration
        /// The number of characters of a reason or a name that are passed on (spidr-wire §6.7).
        package var maximumTextLength: Int
        /// What a caller that lists `earlymedia` hears before the answer; a ringback tone starts once a device rings.
        /// `nil`: the caller's own device plays something.
        package var earlyMedia: Playback?
        /// Whether a leg on hold hears music, if its description permits.
        package var playsMusicOnHold: Bool
        /// Whether a key is an event in a call in which no application hears it.
        package var tellsKeys: Bool
        /// When the caller of a user whose devices are asleep learns that the callee rings.
        package var wakingProgress: WakingProgress
        /// Which codecs the gateway offers, prefers and transcodes.
        package var mediaPolicy: MediaPolicy

        /// Makes a configuration of its parts; each parameter is the property of that name.
        package init(
            ringTime: Duration = .seconds(60), mediaSetupTime: Duration = .seconds(60),
            offerTime: Duration = .seconds(30),
            completionTime: Duration = .seconds(30), clientTimeout: Duration? = .seconds(90),
            maximumDuration: Duration? = nil, headlessDuration: Duration = .seconds(600),
            maximumTextLength: Int = 256, earlyMedia: Playback? = nil,
            playsMusicOnHold: Bool = true, tellsKeys: Bool = true, wakingProgress: WakingProgress = .atOnce,
            mediaPolicy: MediaPolicy = .relay
        ) {
            self.ringTime = ringTime
            self.mediaSetupTime = mediaSetupTime
            self.offerTime = offerTime
            self.completionTime = completionTime
            self.clientTimeout = clientTimeout
            self.maximumDuration = maximumDuration
            self.headlessDuration = headlessDuration
            self.maximumTextLength = maximumTextLength
            self.earlyMedia = earlyMedia
            self.playsMusicOnHold = playsMusicOnHold
            self.tellsKeys = tellsKeys
            self.wakingProgress = wakingProgress
            self.mediaPolicy = mediaPolicy
        }
    }
}
