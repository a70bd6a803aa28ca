package import CallControl
import Primitives
import SPiDR

/// `statisticsResponse`: what the media plane knows about a call; an addition of this gateway (docs/client.md).
package struct StatisticsResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "statisticsResponse"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0
    /// The legs of the call, the own leg first.
    package var legs: [LegField]

    /// The media of one leg.
    package struct LegField: Codable, Equatable, Sendable {
        /// `self` or `peer`.
        package var leg: String
        /// The m-lines of the leg.
        package var media: [LineField]
        /// Received packets that were of no use, by reason; only reasons that occurred.
        package var drops: [String: UInt64]
    }

    /// One m-line of a leg.
    package struct LineField: Codable, Equatable, Sendable {
        /// The identification of the m-line, `a=mid` (RFC 5888).
        package var mid: String
        /// `audio` or `video`.
        package var kind: String
        /// Where the media sent to this end comes from: `none`, `relayed`, `transcoded`, `mix` or `player`.
        package var source: String
        /// Media from this end to the gateway.
        package var inbound: StreamField
        /// Media from the gateway to this end.
        package var outbound: StreamField
        /// The round-trip time between the gateway and this end, in milliseconds. `nil`: not known yet.
        package var roundTrip: Double?
        /// The playout buffer. `nil` unless the gateway decodes audio of this end.
        package var playout: PlayoutField?
        /// Video from this end. `nil` for audio, and before the first picture.
        package var pictures: PicturesField?
        /// Video to this end, as far as its reports tell. `nil` for audio, and before the first picture.
        package var seen: SeenField?
    }

    /// Media in one direction.
    package struct StreamField: Codable, Equatable, Sendable {
        /// The number of RTP packets.
        package var packets: UInt64
        /// The number of payload octets.
        package var octets: UInt64
        /// The number of lost packets; below 0 if duplicates outnumber losses (RFC 3550 §6.4.1).
        package var packetsLost: Int64
        /// The interarrival jitter, in milliseconds. `nil`: not known yet.
        package var jitter: Double?
        /// The name of the codec. `nil`: no packet yet.
        package var codec: String?
        /// The RTP payload type, 0 to 127. `nil`: no packet yet.
        package var payloadType: Int?
        /// The audio level, −127 to 0 dBov.
        ///
        /// It is measured where the gateway decodes or makes the audio; otherwise it is what the sender says in its
        /// newest packet (RFC 6464). `nil` for video, and where neither is known.
        package var level: Double?
        /// The quality by the E-model; audio only.
        package var quality: QualityField.Direction?
    }

    /// The playout buffer of audio that the gateway decodes.
    package struct PlayoutField: Codable, Equatable, Sendable {
        /// The audio held back now, in milliseconds.
        package var depth: Double
        /// The audio that the buffer aims to hold back, in milliseconds.
        package var target: Double
        /// The share of the played audio that loss concealment made, 0 to 1.
        package var concealed: Double
        /// The share of the played audio that in-band forward error correction restored, 0 to 1.
        package var recovered: Double
        /// The share of audio taken out to follow the path and the peer's clock, 0 to 1.
        package var shortened: Double
        /// The share of audio put in to follow the path and the peer's clock, 0 to 1.
        package var lengthened: Double
        /// The audio level, −127 to 0 dBov.
        package var level: Double
    }

    /// Video from this end, as the gateway receives it (docs/protocols/rtp-rtcp.md).
    package struct PicturesField: Codable, Equatable, Sendable {
        /// The number of pictures.
        package var frames: UInt64
        /// The number of key frames among them.
        package var keyFrames: UInt64
        /// The number of freezes, counted as in W3C webrtc-stats.
        package var freezes: UInt64
        /// The length of all freezes together, in milliseconds.
        package var frozen: Double
    }

    /// Freezes of video at this end, the receiver, as far as its reports tell (docs/protocols/rtp-rtcp.md).
    package struct SeenField: Codable, Equatable, Sendable {
        /// Waits of 150 ms or more for a missing packet or a key frame, one that goes on included.
        package var freezes: UInt64
        /// The length of all freezes so far, in milliseconds.
        package var frozen: Double
    }

    /// Makes the answer to the user whose leg is `own`. That leg comes first; drop reasons that did not occur are left
    /// out.
    package init(_ statistics: CallMediaStatistics, seenFrom own: LegID) {
        legs = statistics.legs.sorted { $0.leg == own && $1.leg != own }.map { leg in
            LegField(
                leg: leg.leg == own ? "self" : "peer", media: leg.lines.map(LineField.init),
                drops: leg.drops.filter { $0.value > 0 })
        }
    }
}

extension StatisticsResponse.LineField {
    fileprivate init(_ line: LineMediaStatistics) {
        self.init(
            mid: line.mid, kind: line.kind, source: line.source.word, inbound: .init(line.inbound),
            outbound: .init(line.outbound),
            roundTrip: line.roundTrip?.inMilliseconds,
            playout: line.playout.map {
                .init(
                    depth: $0.depth.inMilliseconds, target: $0.target.inMilliseconds, concealed: $0.concealed,
                    recovered: $0.recovered,
                    shortened: $0.shortened,
                    lengthened: $0.lengthened, level: $0.level)
            },
            pictures: line.pictures.map {
                .init(frames: $0.frames, keyFrames: $0.keyFrames, freezes: $0.freezes, frozen: $0.frozen.inMilliseconds)
            },
            seen: line.seen.map { .init(freezes: $0.freezes, frozen: $0.frozen.inMilliseconds) })
    }
}

extension StatisticsResponse.StreamField {
    fileprivate init(_ stream: LineMediaStatistics.Stream) {
        self.init(
            packets: stream.packets, octets: stream.octets, packetsLost: stream.packetsLost,
            jitter: stream.jitter?.inMilliseconds,
            codec: stream.codec,
            payloadType: stream.payloadType.map(Int.init), level: stream.level,
            quality: stream.quality.map(QualityField.Direction.init))
    }
}

extension LineMediaStatistics.Source {
    fileprivate var word: String {
        switch self {
        case .nothing: "none"
        case .relayed: "relayed"
        case .transcoded: "transcoded"
        case .mix: "mix"
        case .player: "player"
        }
    }
}
