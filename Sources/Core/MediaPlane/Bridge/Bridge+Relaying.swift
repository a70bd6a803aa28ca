package import Primitives
package import RTP
package import SDP

/// The hot path: receiving packets, relaying them to other legs, and making headers for generated ones. Nothing is
/// allocated, except while the history of a stream of video grows.
extension Bridge {
    /// Takes a decrypted RTP packet of a leg's peer.
    ///
    /// - Parameters:
    ///   - packet: The packet.
    ///   - index: The leg.
    ///   - transport: The transport of the leg that the packet came over.
    ///   - now: The time of arrival.
    /// - Returns: `.media` if the packet is relayed or decoded; else the reason for which it is dropped, which is
    ///   counted.
    package mutating func receive(
        _ packet: Span<UInt8>, from index: LegIndex, over transport: TransportNumber = .first, at now: MonotonicTime
    ) -> Reception {
        do throws(DropReason) {
            let (arrival, isRecovered, isFeedbackDue) = try self[index].receive(
                packet, as: index, over: transport, configuration, at: now)
            if isFeedbackDue { sendTransportFeedback(to: index, at: now) }
            if isRecovered { requestKeyFrame(from: index, line: arrival.line, as: .pictureLoss, at: now) }
            return .media(arrival)
        } catch {
            self[index].drops.count(error)
            return .drop(error)
        }
    }

    /// Rewrites a packet for one of its receivers, in place.
    ///
    /// - Parameters:
    ///   - arrival: The result of `receive`.
    ///   - number: The receiver, 0 ..< `arrival.receiverCount`.
    ///   - packet: A buffer that starts with the packet as it arrived, and may be larger.
    ///   - count: The length of the packet in bytes.
    ///   - now: The time.
    /// - Returns: Where to send the packet; or the reason for which it is dropped, which is counted.
    package mutating func relay(
        _ arrival: Arrival, toReceiver number: Int, in packet: inout MutableSpan<UInt8>, count: Int,
        at now: MonotonicTime
    ) -> Relaying {
        precondition(count <= packet.count, "the packet lies within its buffer")
        let receiver = legs[arrival.leg.place].lines[arrival.line].receivers[number]
        do throws(DropReason) {
            let count = try legs[receiver.leg.place].relay(arrival, on: receiver.line, in: &packet, count, at: now)
            return .relay(
                to: receiver.leg, over: legs[receiver.leg.place].lines[receiver.line].transport, count: count)
        } catch {
            if error == .unknownPayloadType { noteUnrelayable(arrival, at: now) }
            self[arrival.leg].drops.count(error)
            return .drop(error)
        }
    }

    /// Makes the header of a packet that the gateway generates. It continues everything sent on the leg's m-line
    /// before.
    ///
    /// - Parameters:
    ///   - index: The leg.
    ///   - line: The index of the m-line.
    ///   - payloadType: The payload type of the packet.
    ///   - clockRate: The clock rate of the codec in hertz.
    ///   - ticks: The duration of the packet in ticks of that clock; the next timestamp is greater by as much.
    ///   - octets: The length of the payload in bytes.
    ///   - isSpurt: Whether the packet is the first after a pause; the marker is set then.
    ///   - now: The time.
    package mutating func originate(
        for index: LegIndex, line: Int, _ payloadType: PayloadType, clockRate: UInt32, ticks: Int, octets: Int,
        isSpurt: Bool,
        at now: MonotonicTime
    ) -> RTPHeader {
        self[index].lines[line].primary.originate(
            payloadType, clockRate: clockRate, ticks: ticks, octets: octets, isSpurt: isSpurt, at: now)
    }
}

extension BridgeLeg {
    /// Finds the packet's source and m-line.
    ///
    /// - Returns: The arrival. `isRecovered` says that a video source has returned after another one had replaced it,
    ///   so that receivers lack the reference frames of its pictures. `isFeedbackDue` says that the peer should get
    ///   feedback on its packets at once.
    fileprivate mutating func receive(
        _ packet: Span<UInt8>, as leg: LegIndex, over transport: TransportNumber, _ configuration: Bridge.Configuration,
        at now: MonotonicTime
    ) throws(DropReason) -> (Arrival, isRecovered: Bool, isFeedbackDue: Bool) {
        guard isConfigured else { throw .notConfigured }
        let header: RTPHeader
        do { header = try RTPHeader(parsing: packet) } catch { throw .malformed }
        var isFeedbackDue = false
        let transportNumber =
            transportFeedback == nil
            ? 0 : noteArrival(header, in: packet, over: transport, isFeedbackDue: &isFeedbackDue, at: now)
        let index =
            isSpread
            ? try source(of: header, in: packet, over: transport, maximumLearned: configuration.maximumLearnedSources)
            : try source(of: header, in: packet, maximumLearned: configuration.maximumLearnedSources)
        guard let format = sources.entries[index].format else { throw .unknownPayloadType }

        let octets = header.payloadRange.count
        let line = sources.entries[index].line
        lines[line].packetReceived(octets: octets)
        let position = sources.entries[index].packetReceived(
            header, clockRate: format.clockRate, octets: octets, at: now)
        lines[line].noteLevel(header, in: packet, position)
        var startsKeyFrame = false
        if let pictures = format.pictures {
            startsKeyFrame = pictures.startsKeyFrame(packet.extracting(header.payloadRange))
            lines[line].pictureReceived(header, startsKeyFrame: startsKeyFrame, position, at: now)
        }
        if let obstacle = lines[line].obstacle { throw obstacle }
        guard position != .sequenceJump else { throw .sequenceJump }
        var (isRestart, isRecovered) = (position == .restarted, false)
        if !format.isRetransmission {
            if lines[line].activeSource != header.ssrc {
                isRecovered =
                    try activate(index, of: line, position, configuration, at: now) && lines[line].kind == .video
                isRestart = true
            }
            lines[line].lastActive = now
        }
        let arrival = Arrival(
            header: header, leg: leg, line: line, format: format, repairs: sources.entries[index].repairs,
            position: position,
            startsKeyFrame: startsKeyFrame, receiverCount: lines[line].receivers.count,
            isDecoded: lines[line].isDecoded, transportNumber: transportNumber,
            isRestart: isRestart)
        return (arrival, isRecovered, isFeedbackDue)
    }

    /// Makes a source the active one of its m-line; returns whether it had been active before.
    private mutating func activate(
        _ index: Int, of line: Int, _ position: ReceptionStatistics.Position, _ configuration: Bridge.Configuration,
        at now: MonotonicTime
    ) throws(DropReason) -> Bool {
        guard position != .late else { throw .tooOld }
        let isSuperseded = sources.entries[index].isSuperseded
        if let current = lines[line].activeSource {
            // Two sources at a time would be interleaved packet by packet. The new source keeps the stream while it
            // sends.
            if isSuperseded, now - lines[line].lastActive < configuration.sourceSilence { throw .superseded }
            if let replaced = sources.index(of: current) { sources.entries[replaced].isSuperseded = true }
        }
        sources.entries[index].isSuperseded = false
        lines[line].activeSource = sources.entries[index].ssrc
        return isSuperseded
    }
}

extension BridgeLeg {
    fileprivate mutating func relay(
        _ arrival: Arrival, on line: Int, in packet: inout MutableSpan<UInt8>, _ count: Int, at now: MonotonicTime
    ) throws(DropReason) -> Int {
        try lines[line].relay(arrival, over: &path, in: &packet, count, at: now)
    }
}

extension BridgeLine {
    /// Rewrites the packet; returns the length of what the receiver is sent.
    fileprivate mutating func relay(
        _ arrival: Arrival, over path: inout ReceiverPath, in packet: inout MutableSpan<UInt8>, _ count: Int,
        at now: MonotonicTime
    ) throws(DropReason) -> Int {
        var header = arrival.header
        if arrival.format.isRetransmission, retransmission == nil || translation[header.payloadType] == nil {
            return try relayRecovered(arrival, over: &path, in: &packet, count, at: now)
        }
        // If the offers of two peers differ, one may use a codec that the other does not know.
        guard let payloadType = translation[header.payloadType] else { throw .unknownPayloadType }
        header.payloadType = payloadType
        var original: SequenceNumber?
        if arrival.format.isRetransmission {
            original = try relayRetransmission(&header, arrival, in: &packet, count, at: now)
        } else {
            try relayPrimary(&header, arrival, at: now)
            if let rates = translation.eventRates(of: arrival.header.payloadType) {
                scaleEvent(behind: &header, arrival.header, rates, in: &packet)
            }
        }
        write(header, of: arrival, over: &path, to: &packet, count, at: now)
        let isLate = arrival.position == .late && !arrival.format.isRetransmission
        if let filled = isLate ? header.sequenceNumber : original { waits.packetSent(filled, at: now) }
        if arrival.startsKeyFrame { waits.keyFrameSent(at: now) }
        if history != nil { keep(header, repeating: original, packet.span.extracting(0..<count), at: now) }
        return count
    }

    private func write(
        _ header: RTPHeader, of arrival: Arrival, over path: inout ReceiverPath, to packet: inout MutableSpan<UInt8>,
        _ count: Int,
        at now: MonotonicTime
    ) {
        path.packetSent(octets: count)
        header.write(to: &packet)
        if !extensionNumbering.isIdentity { header.renumberElements(by: extensionNumbering, in: &packet) }
        guard arrival.transportNumber != 0 else { return }
        path.number(header, at: Int(arrival.transportNumber), as: numberID, in: &packet, count, at: now)
    }

    /// Converts a telephone event to the clock rate of the receiver.
    ///
    /// - Parameter original: The header as it came.
    private mutating func scaleEvent(
        behind header: inout RTPHeader, _ original: RTPHeader, _ rates: EventRates, in packet: inout MutableSpan<UInt8>
    ) {
        guard var event = TelephoneEvent(parsing: packet.span.extracting(header.payloadRange)) else { return }
        header.timestamp = header.timestamp + eventScaling.scale(&event, behind: original, rates)
        var payload = packet._mutatingExtracting(header.payloadRange)
        event.write(to: &payload)
    }

    /// Keeps what is sent, in case the receiver misses it. Of a retransmission, the packet that it repeats is kept.
    private mutating func keep(
        _ header: RTPHeader, repeating original: SequenceNumber?, _ packet: Span<UInt8>, at now: MonotonicTime
    ) {
        guard let format = format(header.payloadType), format.isRetransmission else {
            history?.keep(packet, as: header.sequenceNumber, at: now)
            return
        }
        // A packet of padding only, with which senders probe, repeats nothing.
        guard let original, let repaired = format.repairs else { return }
        var header = header
        header.payloadType = repaired
        header.sequenceNumber = original
        header.ssrc = primary.ssrc
        history?.keep(recovered: header, from: packet, at: now)
    }

    private mutating func relayPrimary(_ header: inout RTPHeader, _ arrival: Arrival, at now: MonotonicTime)
        throws(DropReason)
    {
        if primary.source != header.ssrc {
            guard arrival.position != .late else { throw .tooOld }
            // The marker starts a talk spurt in audio. In video it ends a picture (RFC 3551 §4.1, RFC 6184 §5.1).
            if kind == .audio, primary.packets > 0 { header.marker = true }
            primary.start(header, clockRate: arrival.format.clockRate, at: now)
        } else if arrival.position == .restarted || hasLapped(arrival, primary, recoversPackets: history != nil) {
            primary.start(header, clockRate: arrival.format.clockRate, at: now)
        } else if let history, primary.lead(of: header.sequenceNumber) <= 0,
            let number = primary.numberOfOriginal(header.sequenceNumber), history.mayHaveKept(number)
        {
            // Its retransmission came first.
            throw .tooOld
        }
        let (octets, offset) = (header.payloadRange.count, primary.timestampOffset)
        guard primary.translate(&header, octets: octets, timestampOffset: offset, at: now) else { throw .tooOld }
    }

    /// Whether a packet that advances its source would get a sequence number that was used before: the source went on
    /// for most of a cycle while nothing of it was sent to this receiver. No number may be used twice (RFC 3711 §9.1).
    ///
    /// - Parameter recoversPackets: The stream may be ahead of its source by a packet that was recovered from a
    ///   retransmission.
    private func hasLapped(_ arrival: Arrival, _ stream: OutgoingStream, recoversPackets: Bool) -> Bool {
        let limit = recoversPackets ? -Int(ReceptionStatistics.maximumDropout) : 0
        return arrival.position == .newest && stream.lead(of: arrival.header.sequenceNumber) <= limit
    }

    /// Rewrites a packet of the retransmission stream. The stream has its own sequence numbers, but timestamp and
    /// original sequence number follow the primary stream (RFC 4588 §4). Returns the outgoing sequence number of the
    /// repeated packet; `nil` for padding.
    private mutating func relayRetransmission(
        _ header: inout RTPHeader, _ arrival: Arrival, in packet: inout MutableSpan<UInt8>, _ count: Int,
        at now: MonotonicTime
    ) throws(DropReason) -> SequenceNumber? {
        guard let current = primary.source, arrival.repairs == nil || arrival.repairs == current else {
            throw .staleRetransmission
        }
        let hasLapped = retransmission.map { self.hasLapped(arrival, $0, recoversPackets: false) } ?? false
        if retransmission?.source != header.ssrc || arrival.position == .restarted || hasLapped {
            guard arrival.position != .late else { throw .tooOld }
            retransmission?.start(header, clockRate: arrival.format.clockRate, at: now)
        }
        let (octets, offset) = (header.payloadRange.count, primary.timestampOffset)
        var repeated: SequenceNumber?
        if let original = header.originalSequenceNumber(in: packet.span.extracting(0..<count)) {
            guard let translated = primary.translateOriginal(original) else { throw .staleRetransmission }
            header.write(originalSequenceNumber: translated, to: &packet)
            repeated = translated
        }
        guard retransmission?.translate(&header, octets: octets, timestampOffset: offset, at: now) == true else {
            throw .tooOld
        }
        return repeated
    }

    /// Converts a retransmission into the packet that it repeats (RFC 4588 §4), for a receiver without retransmission
    /// format. Returns the length of that packet.
    ///
    /// The receiver may have been sent the packet already; it was then lost on another path, or its sender probes the
    /// path with it. It is not sent again: its header may have changed, and one sequence number must not be sent with
    /// different bytes (RFC 3711 §9.1). The receiver asks for what it misses, and gets it from the history.
    private mutating func relayRecovered(
        _ arrival: Arrival, over path: inout ReceiverPath, in packet: inout MutableSpan<UInt8>, _ count: Int,
        at now: MonotonicTime
    ) throws(DropReason) -> Int {
        var header = arrival.header
        guard let repaired = arrival.format.repairs else { throw .noRetransmission }
        guard let payloadType = translation[repaired] else { throw .unknownPayloadType }
        // A packet of padding only repeats nothing.
        guard let original = header.originalSequenceNumber(in: packet.span.extracting(0..<count)) else {
            throw .noRetransmission
        }
        guard let current = primary.source, arrival.repairs == nil || arrival.repairs == current,
            let number = primary.numberOfOriginal(original)
        else { throw .staleRetransmission }
        guard history?.lacks(number) == true else { throw .noRetransmission }
        header.payloadType = payloadType
        header.sequenceNumber = original
        let (octets, offset) = (header.payloadRange.count - 2, primary.timestampOffset)
        guard primary.translate(&header, octets: octets, timestampOffset: offset, at: now) else { throw .tooOld }
        for index in header.payloadRange.lowerBound..<(count - 2) { packet[index] = packet[index + 2] }
        write(header, of: arrival, over: &path, to: &packet, count - 2, at: now)
        waits.packetSent(number, at: now)
        history?.keep(packet.span.extracting(0..<(count - 2)), as: number, at: now)
        return count - 2
    }
}
