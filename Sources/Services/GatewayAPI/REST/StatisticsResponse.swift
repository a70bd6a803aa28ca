package import CallControl

/// `statisticsResponse`: what the media plane knows about a call (docs/client.md).
package struct StatisticsResponse: WireObject, Equatable {
    package static let wrapper = "statisticsResponse"

    package var statusCode = 0
    /// The own leg first.
    package var legs: [LegField]

    package struct LegField: Decodable, Equatable, Sendable {
        /// `self` or `peer`.
        package var leg: String
        package var media: [LineField]
        /// Packets of no use, by reason; only reasons that occurred.
        package var drops: [String: UInt64]
    }

    package struct LineField: Decodable, Equatable, Sendable {
        package var mid: String
        package var kind: String
        package var source: String
        package var inbound: StreamField
        package var outbound: StreamField
        package var roundTrip: Double?
        package var playout: PlayoutField?
        package var pictures: PicturesField?
        package var seen: SeenField?
    }

    package struct StreamField: Decodable, Equatable, Sendable {
        package var packets: UInt64
        package var octets: UInt64
        package var packetsLost: Int64
        package var jitter: Double?
        package var codec: String?
        package var payloadType: Int?
        /// dBov.
        package var level: Double?
        package var quality: QualityField.Direction?
    }

    package struct PlayoutField: Decodable, Equatable, Sendable {
        package var depth: Double
        package var target: Double
        package var concealed: Double
        package var recovered: Double
        package var shortened: Double
        package var lengthened: Double
        package var level: Double
    }

    package struct PicturesField: Decodable, Equatable, Sendable {
        package var frames: UInt64
        package var keyFrames: UInt64
        package var freezes: UInt64
        /// Milliseconds.
        package var frozen: Double
    }

    package struct SeenField: Decodable, Equatable, Sendable {
        package var freezes: UInt64
        /// Milliseconds.
        package var frozen: Double
    }

    package init(_ statistics: CallMediaStatistics, seenFrom own: Leg) {
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
            mid: line.mid, kind: line.kind, source: line.source, inbound: .init(line.inbound),
            outbound: .init(line.outbound),
            roundTrip: line.roundTrip,
            playout: line.playout.map {
                .init(
                    depth: $0.depth, target: $0.target, concealed: $0.concealed, recovered: $0.recovered,
                    shortened: $0.shortened,
                    lengthened: $0.lengthened, level: $0.level)
            },
            pictures: line.pictures.map {
                .init(frames: $0.frames, keyFrames: $0.keyFrames, freezes: $0.freezes, frozen: $0.frozen)
            },
            seen: line.seen.map { .init(freezes: $0.freezes, frozen: $0.frozen) })
    }
}

extension StatisticsResponse.StreamField {
    fileprivate init(_ stream: LineMediaStatistics.Stream) {
        self.init(
            packets: stream.packets, octets: stream.octets, packetsLost: stream.packetsLost, jitter: stream.jitter,
            codec: stream.codec,
            payloadType: stream.payloadType.map(Int.init), level: stream.level,
            quality: stream.quality.map(QualityField.Direction.init))
    }
}

// MARK: - Writing

extension StatisticsResponse: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("statusCode", statusCode)
            object.member("legs", legs)
        }
    }
}

extension StatisticsResponse.LegField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("leg", leg)
            object.member("media", media)
            object.member("drops", Drops(counts: drops))
        }
    }

    private struct Drops: JSONWritable {
        let counts: [String: UInt64]
        func write(to writer: inout JSONWriter) {
            writer.object { object in
                for (reason, count) in counts.sorted(by: { $0.key < $1.key }) { object.member(reason, count) }
            }
        }
    }
}

extension StatisticsResponse.LineField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("mid", mid)
            object.member("kind", kind)
            object.member("source", source)
            object.member("inbound", inbound)
            object.member("outbound", outbound)
            object.member("roundTrip", fraction: roundTrip)
            if let playout { object.member("playout", playout) }
            if let pictures { object.member("pictures", pictures) }
            if let seen { object.member("seen", seen) }
        }
    }
}

extension StatisticsResponse.StreamField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("packets", packets)
            object.member("octets", octets)
            object.member("packetsLost", packetsLost)
            object.member("jitter", fraction: jitter)
            object.member("codec", codec)
            object.member("payloadType", payloadType)
            object.member("level", fraction: level)
            if let quality { object.member("quality", quality) }
        }
    }
}

extension StatisticsResponse.PlayoutField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("depth", fraction: depth)
            object.member("target", fraction: target)
            object.member("concealed", fraction: concealed)
            object.member("recovered", fraction: recovered)
            object.member("shortened", fraction: shortened)
            object.member("lengthened", fraction: lengthened)
            object.member("level", fraction: level)
        }
    }
}

extension StatisticsResponse.SeenField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("freezes", freezes)
            object.member("frozen", fraction: frozen)
        }
    }
}

extension StatisticsResponse.PicturesField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("frames", frames)
            object.member("keyFrames", keyFrames)
            object.member("freezes", freezes)
            object.member("frozen", fraction: frozen)
        }
    }
}
