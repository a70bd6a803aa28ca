/// What the media plane has measured of a call, at one moment.
package struct CallMediaStatistics: Equatable, Sendable {
    /// The legs that have media, each with its figures.
    package var legs: [LegMediaStatistics]

    /// Makes the figures of a call of those of its legs.
    package init(legs: [LegMediaStatistics]) { self.legs = legs }
}

/// What the media plane has measured of one leg.
package struct LegMediaStatistics: Equatable, Sendable {
    /// The leg that was measured.
    package var leg: LegID
    /// The figures of its m-lines.
    package var lines: [LineMediaStatistics]
    /// Packets from this leg's peer that were dropped, counted by reason.
    package var drops: [String: UInt64]

    /// Makes a record of its parts; each parameter is the property of that name.
    package init(leg: LegID, lines: [LineMediaStatistics], drops: [String: UInt64]) {
        self.leg = leg
        self.lines = lines
        self.drops = drops
    }
}

/// What the media plane has measured of one m-line of one leg.
package struct LineMediaStatistics: Equatable, Sendable {
    /// One direction of an m-line: media from the peer to the gateway, or from the gateway to the peer.
    package struct Stream: Equatable, Sendable {
        /// RTP packets.
        package var packets: UInt64 = 0
        /// RTP payload, octets.
        package var octets: UInt64 = 0
        /// Packets that were lost; negative if duplicates outnumber the losses (RFC 3550 §6.4.1).
        package var packetsLost: Int64 = 0
        /// Interarrival jitter (RFC 3550 §6.4.1); `nil` before it is known.
        package var jitter: Duration?
        /// The name of the codec; `nil` before it is known.
        package var codec: String?
        /// The RTP payload type; `nil` before it is known.
        package var payloadType: UInt8?
        /// Audio level, dBov, −127…0; `nil` for video, and where neither the gateway decodes the audio nor its sender
        /// states the level (RFC 6464).
        package var level: Double?
        /// The quality by the E-model; `nil` for video, and before it is known.
        package var quality: CallQuality.Direction?

        /// Makes a stream without figures.
        package init() {}
    }

    /// The jitter buffer of audio that the gateway decodes.
    package struct Playout: Equatable, Sendable {
        /// Audio in the jitter buffer.
        package var depth: Duration
        /// Audio that the jitter buffer aims to hold.
        package var target: Duration
        /// The share of the played audio that was concealed because its packets were missing, 0…1.
        package var concealed: Double
        /// The share of the played audio that forward error correction restored, 0…1.
        package var recovered: Double
        /// The share of the played audio that was removed in order to follow the path and the peer's clock, 0…1.
        package var shortened: Double
        /// The share of the played audio that was inserted for the same reason, 0…1.
        package var lengthened: Double
        /// Audio level, dBov, −127…0.
        package var level: Double

        /// Makes a record of its parts; each parameter is the property of that name.
        package init(
            depth: Duration, target: Duration, concealed: Double, recovered: Double, shortened: Double,
            lengthened: Double, level: Double
        ) {
            self.depth = depth
            self.target = target
            self.concealed = concealed
            self.recovered = recovered
            self.shortened = shortened
            self.lengthened = lengthened
            self.level = level
        }
    }

    /// How the peer of this leg displayed the video that it was sent, as far as it reports that.
    package struct Seen: Equatable, Sendable {
        /// How often the video froze.
        package var freezes: UInt64
        /// The total time of all freezes.
        package var frozen: Duration

        /// Makes a record of its parts; each parameter is the property of that name.
        package init(freezes: UInt64, frozen: Duration) {
            self.freezes = freezes
            self.frozen = frozen
        }
    }

    /// The video that came from the peer of this leg.
    package struct Pictures: Equatable, Sendable {
        /// Frames, key frames included.
        package var frames: UInt64
        /// Key frames.
        package var keyFrames: UInt64
        /// How often the video froze.
        package var freezes: UInt64
        /// The total time of all freezes.
        package var frozen: Duration

        /// Makes a record of its parts; each parameter is the property of that name.
        package init(frames: UInt64, keyFrames: UInt64, freezes: UInt64, frozen: Duration) {
            self.frames = frames
            self.keyFrames = keyFrames
            self.freezes = freezes
            self.frozen = frozen
        }
    }

    /// Where the media that goes to a peer comes from.
    package enum Source: Equatable, Sendable {
        /// Nothing goes there.
        case nothing
        /// From another peer, in packets as they came.
        case relayed
        /// From another peer, decoded and encoded again.
        case transcoded
        /// From all other legs of a conference.
        case mix
        /// From a file, a tone, or silence.
        case player
    }

    /// The identification of the m-line (`a=mid`).
    package var mid: String
    /// `audio` or `video`.
    package var kind: String
    /// Where the media that goes to the peer comes from.
    package var source: Source
    /// Media from the peer to the gateway.
    package var inbound = Stream()
    /// Media from the gateway to the peer.
    package var outbound = Stream()
    /// The round-trip time between the gateway and the peer; `nil` before it is known.
    package var roundTrip: Duration?
    /// The jitter buffer; `nil` for video, and for audio that the gateway does not decode.
    package var playout: Playout?
    /// The video from the peer; `nil` for audio, and before the first picture.
    package var pictures: Pictures?
    /// How the peer displayed the video that it was sent; `nil` for audio, and before the first picture.
    package var seen: Seen?

    /// Makes a line without figures; each parameter is the property of that name.
    package init(mid: String, kind: String, source: Source) {
        self.mid = mid
        self.kind = kind
        self.source = source
    }
}
