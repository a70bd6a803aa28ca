import Primitives
import RTP

/// Retransmission of video that was lost between the gateway and a receiver (RFC 4585 §6.2.1).
extension Bridge {
    /// Retransmits the packets that the receiver asks for and the gateway has kept.
    ///
    /// - Returns: The sequence numbers that were never sent to the receiver, because the packets were lost before the
    ///   gateway.
    mutating func sendAgain(
        _ asked: [SequenceNumber], of media: SSRC, to side: LegIndex, at now: MonotonicTime
    ) -> [SequenceNumber] {
        guard !isEnded, let (line, isRetransmission) = self[side].outgoing(media), !isRetransmission,
            self[side].isReady(line), self[side].lines[line].history != nil
        else { return asked }
        var missing: [SequenceNumber] = []
        let roundTrip = self[side].lines[line].primary.roundTrip.latest
        for number in asked {
            let since = self[side].lines[line].missedSince(number, at: now)
            switch self[side].lines[line].history?.recall(number, roundTrip: roundTrip, at: now) {
            case .found(let range):
                self[side].lines[line].waits.packetRequested(number, since: since, at: now)
                self[side].lines[line].waits.packetSent(number, at: now)
                var packet = draft.takeMemory()
                self[side].writeRepetition(of: range, on: line, to: &packet, at: now)
                transmitAgain(packet, to: side, over: self[side].lines[line].transport)
            case .withheld: self[side].controlDrops.count(.rateLimited)
            case .expired:
                self[side].lines[line].waits.packetRequested(number, since: since, at: now)
                self[side].controlDrops.count(.untranslatable)
            case .unknown, nil: missing.append(number)
            }
        }
        return missing
    }
}

extension BridgeLeg {
    /// Writes a retransmission. In the retransmission stream it gets a new transport-wide sequence number, if the
    /// packet had one. Under its own sequence number it keeps all its bytes (RFC 3711 §9.1): other bytes under the same
    /// number give away the key with which AES-GCM authenticates (RFC 7714 §8.1).
    fileprivate mutating func writeRepetition(
        of range: Range<Int>, on line: Int, to packet: inout [UInt8], at now: MonotonicTime
    ) {
        let header = lines[line].writeRepetition(of: range, to: &packet, at: now)
        path.packetSent(octets: packet.count)
        guard header.ssrc != lines[line].primary.ssrc else { return }
        path.renumber(header, as: lines[line].numberID, in: &packet, at: now)
    }
}

extension BridgeLine {
    /// The time from which the peer has missed a packet that it asks for now. That is at most one round trip after the
    /// packet was sent. The peer has missed it for longer if no later packet showed the gap, or if its NACKs were lost.
    fileprivate func missedSince(_ number: SequenceNumber, at now: MonotonicTime) -> MonotonicTime {
        guard let sent = history?.sentAt(number), let roundTrip = primary.roundTrip.latest else { return now }
        return min(now, sent + roundTrip)
    }

    /// Writes a retransmission: with a header of the retransmission stream if the peer has agreed to one (RFC 4588 §4),
    /// otherwise unchanged. Returns the header of the packet.
    ///
    /// A packet of the retransmission stream has the mid of its m-line (RFC 9143 §15): Firefox takes no packet of that
    /// stream before one with a mid. Browsers send a mid only until their first packets are acknowledged.
    fileprivate mutating func writeRepetition(
        of range: Range<Int>, to packet: inout [UInt8], at now: MonotonicTime
    ) -> RTPHeader {
        guard let kept = history?.bytes, let header = try? RTPHeader(parsing: kept.span.extracting(range)) else {
            preconditionFailure("the history keeps well-formed packets")
        }
        guard retransmission != nil, let payloadType = repairFormat(of: header.payloadType) else {
            packet.append(contentsOf: kept[range])
            primary.noteRepetition(octets: header.payloadRange.count)
            return header
        }
        let payload = range.lowerBound + header.payloadRange.lowerBound
        let original = header.sequenceNumber.rawValue
        packet.append(contentsOf: kept[range.lowerBound..<payload])
        packet.append(UInt8(original >> 8))
        packet.append(UInt8(original & 0xFF))
        packet.append(contentsOf: kept[payload..<range.upperBound])
        guard var stream = retransmission else { return header }
        var repeated = header
        repeated.payloadType = payloadType
        repeated.sequenceNumber = stream.repeatPacket(
            payloadType, timestamp: header.timestamp, clockRate: primary.clockRate,
            octets: header.payloadRange.count + 2, at: now)
        repeated.ssrc = stream.ssrc
        retransmission = stream
        if midID != 0 { repeated.insertElement(midID, midBytes, into: &packet) }
        var span = packet.mutableSpan
        repeated.write(to: &span)
        guard let written = try? RTPHeader(parsing: packet.span) else {
            preconditionFailure("a retransmission of a well-formed packet is well-formed")
        }
        return written
    }
}
