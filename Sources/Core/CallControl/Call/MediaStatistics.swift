/// What the media plane knows about a call, at one moment.
package struct CallMediaStatistics: Equatable, Sendable {
    package var legs: [LegMediaStatistics]

    package init(legs: [LegMediaStatistics]) { self.legs = legs }
}

package struct LegMediaStatistics: Equatable, Sendable {
    package var leg: Leg
    package var lines: [LineMediaStatistics]
    /// Packets of this end that were of no use, by reason.
    package var drops: [String: UInt64]

    package init(leg: Leg, lines: [LineMediaStatistics], drops: [String: UInt64]) {
        self.leg = leg
        self.lines = lines
        self.drops = drops
    }
}

/// One m-line of one end.
package struct LineMediaStatistics: Equatable, Sendable {
    /// Media on its way from the end to the gateway, or from the gateway to the end.
    package struct Stream: Equatable, Sendable {
        package var packets: UInt64 = 0
        /// Payload octets.
        package var octets: UInt64 = 0
        package var packetsLost: Int64 = 0
        /// Milliseconds; `nil` before it is known.
        package var jitter: Double?
        package var codec: String?
        package var payloadType: UInt8?
        /// dBov, −127…0; audio only, `nil` where neither the gateway hears it nor its sender says it (RFC 6464).
        package var level: Double?
        /// The E-model's opinion; audio only.
        package var quality: CallQuality.Direction?

        package init() {}
    }

    /// What only audio has that the gateway decodes.
    package struct Playout: Equatable, Sendable {
        /// Milliseconds of audio held back now, and wanted.
        package var depth: Double
        package var target: Double
        /// Shares of what was played, 0…1.
        package var concealed: Double
        package var recovered: Double
        /// Taken out and put in to follow the path and the peer's clock, as shares of what was played.
        package var shortened: Double
        package var lengthened: Double
        /// dBov, −127…0.
        package var level: Double

        package init(
            depth: Double, target: Double, concealed: Double, recovered: Double, shortened: Double, lengthened: Double,
            level: Double
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

    /// What this end could not show of video that it was sent, as far as it tells.
    package struct Seen: Equatable, Sendable {
        package var freezes: UInt64
        /// How long all freezes were, milliseconds.
        package var frozen: Double

        package init(freezes: UInt64, frozen: Double) {
            self.freezes = freezes
            self.frozen = frozen
        }
    }

    /// What only video has.
    package struct Pictures: Equatable, Sendable {
        /// From this end.
        package var frames: UInt64
        package var keyFrames: UInt64
        package var freezes: UInt64
        /// How long all freezes were, milliseconds.
        package var frozen: Double

        package init(frames: UInt64, keyFrames: UInt64, freezes: UInt64, frozen: Double) {
            self.frames = frames
            self.keyFrames = keyFrames
            self.freezes = freezes
            self.frozen = frozen
        }
    }

    package var mid: String
    /// `audio` or `video`.
    package var kind: String
    /// `none`, `relayed`, `transcoded`, `mix` or `player`.
    package var source: String
    package var inbound = Stream()
    package var outbound = Stream()
    /// Milliseconds.
    package var roundTrip: Double?
    package var playout: Playout?
    package var pictures: Pictures?
    /// What the receiver could not show of it; `nil` for all but video that goes to the peer.
    package var seen: Seen?

    package init(mid: String, kind: String, source: String) {
        self.mid = mid
        self.kind = kind
        self.source = source
    }
}
