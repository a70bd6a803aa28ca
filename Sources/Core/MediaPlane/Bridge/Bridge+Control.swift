package import Primitives
import RTP

/// RTCP from a peer: reports are taken in, feedback goes on to the other peer's source in that peer's terms.
extension Bridge {
    /// Takes a decrypted RTCP compound.
    package mutating func receiveControl(_ packet: Span<UInt8>, from side: BridgeSide, at now: MonotonicTime) {
        guard !isEnded else { return }
        let compound: RTCPCompound
        do { compound = try RTCPCompound(parsing: packet) } catch {
            self[side].controlDrops.count(.malformed)
            return
        }
        for packet in compound.packets {
            switch packet {
            case .senderReport(let report):
                if !self[side].senderReportReceived(report, wallClock: wallClock.time(at: now), at: now) {
                    self[side].controlDrops.count(.unknownSource)
                }
                blocksReceived(report.blocks, from: side, at: now)
            case .receiverReport(let report): blocksReceived(report.blocks, from: side, at: now)
            case .goodbye(let goodbye): goodbyeReceived(goodbye, from: side)
            case .genericNACK(let nack): forward(nack, from: side)
            case .pictureLossIndication(let indication): forward(indication, from: side, at: now)
            case .fullIntraRequest(let request): forward(request, from: side, at: now)
            case .estimatedMaximumBitrate(let estimate): forward(estimate, from: side)
            // The other peer is told the gateway's CNAME.
            case .sourceDescription: break
            case .other: self[side].controlDrops.count(.ignored)
            }
        }
    }

    private mutating func blocksReceived(_ blocks: [ReportBlock], from side: BridgeSide, at now: MonotonicTime) {
        for block in blocks {
            guard let (line, isRetransmission) = self[side].outgoing(block.ssrc) else {
                self[side].controlDrops.count(.unknownSource)
                continue
            }
            if isRetransmission {
                self[side].lines[line].retransmission?.reportReceived(block, at: now)
            } else {
                self[side].lines[line].primary.reportReceived(block, at: now)
            }
        }
    }

    /// A source that leaves gives way at once to whichever comes next.
    private mutating func goodbyeReceived(_ goodbye: Goodbye, from side: BridgeSide) {
        for ssrc in goodbye.sources {
            guard let index = self[side].sources.index(of: ssrc) else {
                self[side].controlDrops.count(.unknownSource)
                continue
            }
            let line = self[side].sources.entries[index].line
            guard let counterpart = self[side].lines[line].counterpart else { continue }
            if self[side.other].lines[counterpart].primary.source == ssrc { self[side.other].lines[counterpart].primary.detach() }
            if self[side.other].lines[counterpart].retransmission?.source == ssrc {
                self[side.other].lines[counterpart].retransmission?.detach()
            }
        }
    }

    // MARK: Feedback

    /// The m-line that feedback about one of the gateway's SSRCs is meant for, on the side of its source; counts if there is none.
    private mutating func target(of media: SSRC, from side: BridgeSide) -> (line: Int, stream: OutgoingStream, counterpart: Int)? {
        guard let (line, isRetransmission) = self[side].outgoing(media),
            let stream = isRetransmission ? self[side].lines[line].retransmission : self[side].lines[line].primary
        else {
            self[side].controlDrops.count(.unknownSource)
            return nil
        }
        guard let counterpart = self[side].lines[line].counterpart else {
            self[side].controlDrops.count(.noSource)
            return nil
        }
        return (line, stream, counterpart)
    }

    /// Entries of a NACK that still fit a datagram.
    private static var maximumNACKEntries: Int { 250 }

    private mutating func forward(_ nack: GenericNACK, from side: BridgeSide) {
        guard let (_, stream, counterpart) = target(of: nack.media, from: side) else { return }
        guard let source = stream.source else { return self[side].controlDrops.count(.noSource) }
        let line = self[side.other].lines[counterpart]
        guard line.feedback.contains(.nack) else { return self[side].controlDrops.count(.notNegotiated) }

        let asked = nack.lost
        let lost = asked.compactMap(stream.sourceNumber)
        var translated = GenericNACK(sender: line.primary.ssrc, media: source, lost: lost)
        let surplus = max(0, translated.entries.count - Self.maximumNACKEntries)
        translated.entries.removeLast(surplus)
        self[side].controlDrops.count(.untranslatable, times: asked.count - lost.count + surplus)
        guard !translated.entries.isEmpty else { return }
        sendFeedback(.genericNACK(translated), as: line.primary.ssrc, to: side.other)
    }

    private mutating func forward(_ indication: PictureLossIndication, from side: BridgeSide, at now: MonotonicTime) {
        guard let (_, _, counterpart) = target(of: indication.media, from: side) else { return }
        requestKeyFrame(from: side.other, line: counterpart, as: .pictureLoss, for: side, at: now)
    }

    private mutating func forward(_ request: FullIntraRequest, from side: BridgeSide, at now: MonotonicTime) {
        for entry in request.entries {
            guard let (line, stream, counterpart) = target(of: entry.ssrc, from: side) else { continue }
            self[side].lines[line].primary.lastCommandNumber = entry.commandNumber
            let isRepeated = stream.lastCommandNumber == entry.commandNumber
            requestKeyFrame(from: side.other, line: counterpart, as: .fullIntra(isRepeated: isRepeated), for: side, at: now)
        }
    }

    private mutating func forward(_ estimate: EstimatedMaximumBitrate, from side: BridgeSide) {
        var sources: [SSRC] = []
        for ssrc in estimate.sources {
            guard let (_, stream, _) = target(of: ssrc, from: side) else { continue }
            if let source = stream.source { sources.append(source) }
        }
        guard !sources.isEmpty else { return self[side].controlDrops.count(.noSource) }
        guard let line = self[side.other].lines.first(where: { $0.feedback.contains(.estimatedMaximumBitrate) }) else {
            return self[side].controlDrops.count(.notNegotiated)
        }
        let translated = EstimatedMaximumBitrate(
            sender: line.primary.ssrc, bitsPerSecond: estimate.bitsPerSecond, sources: sources)
        sendFeedback(.estimatedMaximumBitrate(translated), as: line.primary.ssrc, to: side.other)
    }
}
