package import Primitives
import RTP
import SDP

/// RTCP from a peer. Reports are evaluated; feedback is translated and passed on to the source of the other peer.
extension Bridge {
    /// Takes a decrypted RTCP compound packet of a leg's peer. Malformed and unusable parts are counted in
    /// `controlDrops`.
    package mutating func receiveControl(_ packet: Span<UInt8>, from side: LegIndex, at now: MonotonicTime) {
        guard !isEnded else { return }
        let compound: RTCPCompound
        do { compound = try RTCPCompound(parsing: packet) } catch {
            self[side].controlDrops.count(.malformed)
            return
        }
        var nacks: [GenericNACK] = []
        for packet in compound.packets {
            switch packet {
            case .senderReport(let report):
                if !self[side].senderReportReceived(report, wallClock: wallClock.time(at: now), at: now) {
                    self[side].controlDrops.count(.unknownSource)
                }
                blocksReceived(report.blocks, from: side, at: now)
            case .receiverReport(let report): blocksReceived(report.blocks, from: side, at: now)
            case .goodbye(let goodbye): goodbyeReceived(goodbye, from: side)
            case .genericNACK(let nack): nacks.merge(nack)
            case .pictureLossIndication(let indication): relay(indication, from: side, at: now)
            case .fullIntraRequest(let request): relay(request, from: side, at: now)
            case .estimatedMaximumBitrate(let estimate): relay(estimate, from: side, at: now)
            // The other peer gets the gateway's CNAME instead.
            case .sourceDescription: break
            case .transportFeedback(let feedback): feedbackReceived(feedback, from: side, at: now)
            case .other: self[side].controlDrops.count(.ignored)
            }
        }
        for nack in nacks { answer(nack, from: side, at: now) }
    }

    private mutating func blocksReceived(_ blocks: [ReportBlock], from side: LegIndex, at now: MonotonicTime) {
        for block in blocks {
            guard let (line, isRetransmission) = self[side].outgoing(block.ssrc) else {
                self[side].controlDrops.count(.unknownSource)
                continue
            }
            guard
                let (lost, arrived) = isRetransmission
                    ? self[side].lines[line].retransmission?.reportReceived(block, at: now)
                    : self[side].lines[line].primary.reportReceived(block, at: now)
            else { continue }
            self[side].path.reportReceived(lost: lost, arrived: arrived, at: now)
        }
        if !blocks.isEmpty { tellLimit(ofWayTo: side, at: now) }
    }

    /// Detaches the streams of a source that leaves, so that the next source can feed them at once.
    private mutating func goodbyeReceived(_ goodbye: Goodbye, from side: LegIndex) {
        for ssrc in goodbye.sources {
            guard let index = self[side].sources.index(of: ssrc) else {
                self[side].controlDrops.count(.unknownSource)
                continue
            }
            let line = self[side].sources.entries[index].line
            if self[side].lines[line].activeSource == ssrc { self[side].lines[line].activeSource = nil }
            for receiver in self[side].lines[line].receivers {
                if self[receiver.leg].lines[receiver.line].primary.source == ssrc {
                    self[receiver.leg].lines[receiver.line].primary.detach()
                }
                if self[receiver.leg].lines[receiver.line].retransmission?.source == ssrc {
                    self[receiver.leg].lines[receiver.line].retransmission?.detach()
                }
            }
        }
    }

    // MARK: Feedback

    /// The stream that feedback is about, and its source.
    struct Target {
        var stream: OutgoingStream
        /// The m-line of the leg on which the stream is sent.
        var line: Int
        /// The leg and m-line whose packets feed the stream.
        var sender: LegIndex
        var senderLine: Int
    }

    /// The stream with one of the gateway's SSRCs that feedback is about; `nil`, which is counted, if there is none or
    /// no leg feeds it.
    mutating func target(of media: SSRC, from side: LegIndex) -> Target? {
        guard let (line, isRetransmission) = self[side].outgoing(media),
            let stream = isRetransmission ? self[side].lines[line].retransmission : self[side].lines[line].primary
        else {
            self[side].controlDrops.count(.unknownSource)
            return nil
        }
        // Audio that the gateway encodes itself is not retransmitted, because it would come too late.
        guard case .relayed(let sender, let senderLine) = self[side].lines[line].feed else {
            self[side].controlDrops.count(.noSource)
            return nil
        }
        return Target(stream: stream, line: line, sender: sender, senderLine: senderLine)
    }

    /// The most entries of a NACK that fit a datagram.
    private static var maximumNACKEntries: Int { 250 }

    /// Retransmits packets that the gateway has kept, and asks the source for those that never reached the gateway.
    private mutating func answer(_ nack: GenericNACK, from side: LegIndex, at now: MonotonicTime) {
        var seen: Set<UInt16> = []
        let asked = nack.lost.filter { seen.insert($0.rawValue).inserted }
        let missing = sendAgain(asked, of: nack.media, to: side, at: now)
        if !missing.isEmpty { relay(missing, of: nack.media, from: side, at: now) }
    }

    /// Passes on, in one datagram, everything that a compound packet asks of one source.
    private mutating func relay(_ asked: [SequenceNumber], of media: SSRC, from side: LegIndex, at now: MonotonicTime) {
        guard let target = target(of: media, from: side) else { return }
        guard let source = target.stream.source else { return self[side].controlDrops.count(.noSource) }
        if self[side].lines[target.line].isPicture(target.stream) {
            for number in asked where target.stream.sourceNumber(of: number) != nil {
                self[side].lines[target.line].waits.packetRequested(number, since: now, at: now)
            }
        }
        let line = self[target.sender].lines[target.senderLine]
        guard line.feedback.contains(.nack) else { return self[side].controlDrops.count(.notNegotiated) }

        let lost = asked.compactMap(target.stream.sourceNumber)
        var translated = GenericNACK(sender: line.primary.ssrc, media: source, lost: lost)
        let surplus = max(0, translated.entries.count - Self.maximumNACKEntries)
        translated.entries.removeLast(surplus)
        self[side].controlDrops.count(.untranslatable, times: asked.count - lost.count + surplus)
        guard !translated.entries.isEmpty else { return }
        let limit = RateLimit.Configuration(burst: configuration.nackBurst, interval: configuration.nackInterval)
        guard self[side].nackLimit.admit(limit, at: now) else { return self[side].controlDrops.count(.rateLimited) }
        sendFeedback(.genericNACK(translated), as: line.primary.ssrc, to: target.sender, for: side)
    }

    private mutating func relay(_ indication: PictureLossIndication, from side: LegIndex, at now: MonotonicTime) {
        guard let target = target(of: indication.media, from: side) else { return }
        self[side].lines[target.line].waits.keyFrameRequested(at: now)
        requestKeyFrame(from: target.sender, line: target.senderLine, as: .pictureLoss, for: side, at: now)
    }

    private mutating func relay(_ request: FullIntraRequest, from side: LegIndex, at now: MonotonicTime) {
        for entry in request.entries {
            guard let target = target(of: entry.ssrc, from: side) else { continue }
            self[side].lines[target.line].primary.lastCommandNumber = entry.commandNumber
            self[side].lines[target.line].waits.keyFrameRequested(at: now)
            let isRepeated = target.stream.lastCommandNumber == entry.commandNumber
            requestKeyFrame(
                from: target.sender, line: target.senderLine, as: .fullIntra(isRepeated: isRepeated), for: side, at: now
            )
        }
    }
}

extension BridgeLine {
    /// Whether the stream carries the video itself and not its retransmissions.
    fileprivate func isPicture(_ stream: OutgoingStream) -> Bool { kind == .video && stream.ssrc == primary.ssrc }
}

extension [GenericNACK] {
    /// Adds the entries to the NACK about the same source, if there is one.
    fileprivate mutating func merge(_ nack: GenericNACK) {
        guard let index = firstIndex(where: { $0.media == nack.media }) else { return append(nack) }
        self[index].entries += nack.entries
    }
}
