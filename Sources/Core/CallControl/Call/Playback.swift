/// Something the gateway plays to an end of a call, in place of the other end's audio.
package struct Playback: Hashable, Sendable {
    package enum Source: Hashable, Sendable {
        /// Music on hold.
        case music
        case tone(CallTone)
        /// A file of the gateway's media folder, by its name.
        case file(String)
    }

    package var source: Source
    /// From the beginning again when the end is reached; tones and music have no end anyway.
    package var repeats: Bool
    /// Where a file begins to play.
    package var offset: Duration

    package init(_ source: Source, repeats: Bool = false, offset: Duration = .zero) {
        self.source = source
        self.repeats = repeats
        self.offset = offset
    }
}

/// Tones that a telephone network has made for a century (ITU-T E.180); which frequencies they have depends on the region.
package enum CallTone: String, Hashable, Sendable, CaseIterable {
    case ringback
    case busy
    case congestion
    case dial
    case callWaiting = "call-waiting"
    case specialInformation = "special-information"
}

/// Whom a request about media is for, seen from who makes it.
package enum MediaTarget: String, Hashable, Sendable, CaseIterable {
    case own = "self"
    case peer
    case both
}

/// Keys pressed on behalf of an end of a call (RFC 4733).
package struct DigitSequence: Hashable, Sendable {
    /// `0…9 A…D * #`, and `,` for a pause of two seconds.
    package let digits: String
    /// Of each tone, 40…6,000 ms.
    package let duration: Duration
    /// Between two tones, 30…6,000 ms.
    package let gap: Duration

    package static let maximumCount = 128
    package static let durations = Duration.milliseconds(40)...Duration.milliseconds(6_000)
    package static let gaps = Duration.milliseconds(30)...Duration.milliseconds(6_000)

    /// `nil` unless there are 1…128 digits; lower case letters are taken too, and times out of range are brought into it,
    /// as `RTCDTMFSender.insertDTMF` does.
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
