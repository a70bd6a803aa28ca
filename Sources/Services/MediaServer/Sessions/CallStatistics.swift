internal import Audio
internal import CallControl
internal import CallRuntime
internal import MediaPlane
internal import Primitives
internal import RTP
internal import SDP

/// The media statistics of a call, in the types of the media port.
extension MediaWorker {
    func statistics(of id: CallID) -> CallMediaStatistics? {
        guard let call = calls[id] else { return nil }
        return CallMediaStatistics(legs: call.legs.map { $0.statistics })
    }
}

extension MediaWorker {
    /// Rates the audio of every leg, when the next measurement is due.
    func measureQuality(of call: MediaCall, at now: MonotonicTime) {
        guard let due = call.nextMeasurement, due <= now else { return }
        call.nextMeasurement = now + QualityWatch.interval
        for leg in call.legs {
            guard let line = call.bridge.audioStatistics(of: leg.index),
                let report = leg.quality.measure(line, call.audio?.playoutQuality(of: leg.index), at: now)
            else { continue }
            environment.events(call.id, .qualityMeasured(report, leg.name))
        }
    }
}

extension MediaLeg {
    fileprivate var statistics: LegMediaStatistics {
        let snapshot = call.bridge.statistics(of: index)
        var drops: [String: UInt64] = [:]
        for reason in DropReason.allCases { drops["\(reason)"] = snapshot.drops[reason] }
        return LegMediaStatistics(leg: name, lines: snapshot.lines.map(statistics), drops: drops)
    }

    private func statistics(of line: LineStatistics) -> LineMediaStatistics {
        var told = LineMediaStatistics(mid: line.mid, kind: line.kind.word, source: source(of: line))
        told.inbound.packets = line.packetsReceived
        told.inbound.octets = line.octetsReceived
        told.inbound.packetsLost = line.packetsLost
        told.inbound.jitter = line.jitter
        told.inbound.codec = line.inboundCodec?.name
        told.inbound.payloadType = line.inboundCodec?.payloadType.rawValue
        told.outbound.packets = line.packetsSent
        told.outbound.octets = line.octetsSent
        told.outbound.packetsLost = line.remote.map { Int64($0.packetsLost) } ?? 0
        told.outbound.jitter = line.remote.map(\.jitter)
        told.outbound.codec = line.outboundCodec?.name
        told.outbound.payloadType = line.outboundCodec?.payloadType.rawValue
        told.roundTrip = line.roundTrip
        told.pictures = line.pictures.map {
            .init(frames: $0.frames, keyFrames: $0.keyFrames, freezes: $0.freezes, frozen: $0.frozen)
        }
        told.seen = line.waits.map { .init(freezes: $0.freezes, frozen: $0.frozen) }
        if line.kind == .audio {
            told.playout = playout
            told.inbound.level = call.audio?.level(of: index)?.decibels ?? line.inboundLevel?.decibels
            told.outbound.level =
                line.feed.isMadeHere ? call.audio?.spokenLevel(to: index)?.decibels : line.outboundLevel?.decibels
            let latest = quality.latest
            told.inbound.quality = latest.sent
            told.outbound.quality = latest.heard
        }
        return told
    }

    private func source(of line: LineStatistics) -> LineMediaStatistics.Source {
        switch line.feed {
        case .nothing: .nothing
        case .relayed: .relayed
        case .transcoded: .transcoded
        case .generated: call.bridge.audio(of: index)?.source == .mix ? .mix : .player
        }
    }

    private var playout: LineMediaStatistics.Playout? {
        guard let audio = call.audio, let receiver = audio.receiver(of: index) else { return nil }
        let counts = receiver.statistics
        func share(_ samples: UInt64) -> Double { min(1, Double(samples) / max(1, Double(counts.played))) }
        return LineMediaStatistics.Playout(
            depth: receiver.depth, target: receiver.target,
            concealed: share(counts.concealed),
            recovered: share(counts.recovered),
            shortened: share(counts.shortened), lengthened: share(counts.lengthened),
            level: (audio.level(of: index) ?? .silence).decibels)
    }
}

extension MediaKind {
    fileprivate var word: String {
        switch self {
        case .audio: "audio"
        case .video: "video"
        case .other(let name): name
        }
    }
}
