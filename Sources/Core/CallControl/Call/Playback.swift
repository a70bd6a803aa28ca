/// Audio that the gateway plays to a leg in place of the other leg's audio.
package struct Playback: Hashable, Sendable {
    /// Where the audio comes from.
    package enum Source: Hashable, Sendable {
        /// Music on hold.
        case music
        /// A tone of the telephone network.
        case tone(CallTone)
        /// A file in the gateway's media folder, by its name.
        case file(String)
    }

    /// Where the audio comes from.
    package var source: Source
    /// The file starts again when its end is reached. Tones and music never end.
    package var repeats: Bool
    /// The position in a file at which playing starts.
    package var offset: Duration

    /// Makes a playback of its parts; each parameter is the property of that name.
    package init(_ source: Source, repeats: Bool = false, offset: Duration = .zero) {
        self.source = source
        self.repeats = repeats
        self.offset = offset
    }
}

extension Playback {
    /// The name of the file that is played, which has to be loaded before; `nil`: it is no file.
    var file: String? { if case .file(let name) = source { name } else { nil } }
}

/// A tone of the telephone network (ITU-T E.180). Its frequencies depend on the region.
package enum CallTone: Hashable, Sendable, CaseIterable {
    /// The callee is being rung.
    case ringback
    /// The callee is busy.
    case busy
    /// The network cannot complete the call.
    case congestion
    /// The network is ready for digits.
    case dial
    /// Another call waits for the listener.
    case callWaiting
    /// An announcement follows.
    case specialInformation
}

/// Which legs a request about media is for, seen from the leg that makes it.
package enum MediaTarget: Hashable, Sendable {
    /// The leg that asks.
    case own
    /// All other legs.
    case peer
    /// All legs.
    case both
}

/// DTMF digits that are sent for a leg of a call (RFC 4733).
package struct DigitSequence: Hashable, Sendable {
    /// The digits `0…9 A…D * #`, and `,` for a pause of two seconds.
    package let digits: String
    /// The duration of each tone, 40…6,000 ms.
    package let duration: Duration
    /// The gap between two tones, 30…6,000 ms.
    package let gap: Duration

    /// The most digits and pauses that one sequence may have.
    package static let maximumCount = 128
    /// The permitted durations of a tone.
    package static let durations = Duration.milliseconds(40)...Duration.milliseconds(6_000)
    /// The permitted gaps between two tones.
    package static let gaps = Duration.milliseconds(30)...Duration.milliseconds(6_000)

    /// Reads digits; `nil` unless there are 1…128 of them, all permitted. Lower-case letters are accepted. Times out of
    /// range are clamped, as `RTCDTMFSender.insertDTMF` does.
    package init?(_ text: String, duration: Duration = .milliseconds(100), gap: Duration = .milliseconds(70)) {
        let digits = text.uppercased()
        guard (1...Self.maximumCount).contains(digits.utf8.count), digits.utf8.allSatisfy(Self.allowed.contains) else {
            return nil
        }
        self.digits = digits
        self.duration = min(max(duration, Self.durations.lowerBound), Self.durations.upperBound)
        self.gap = min(max(gap, Self.gaps.lowerBound), Self.gaps.upperBound)
    }

    private static let allowed = Array("0123456789ABCD*#,".utf8)
}
