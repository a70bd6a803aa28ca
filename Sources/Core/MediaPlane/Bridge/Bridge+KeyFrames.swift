import Primitives
import RTP

/// How a key frame is asked for.
enum KeyFrameRequest: Equatable {
    /// PLI.
    case pictureLoss
    /// FIR; a repetition keeps its number (RFC 5104 §4.3.1.2).
    case fullIntra(isRepeated: Bool)
}

/// Asking sources for key frames.
extension Bridge {
    /// Asks the peer on `side` for a key frame of an m-line, in the way it understands, unless it was asked just now.
    ///
    /// - Parameter asker: The side that wants it and whose counters say why it does not get it; `nil` if the gateway does.
    mutating func requestKeyFrame(
        from side: LegIndex, line index: Int, as request: KeyFrameRequest, for asker: LegIndex? = nil,
        at now: MonotonicTime
    ) {
        let source: SSRC
        do { source = try keyFrameSource(on: side, line: index, at: now) } catch {
            if let asker { self[asker].controlDrops.count(error) }
            return
        }
        self[side].lines[index].lastKeyFrameRequest = now
        let sender = self[side].lines[index].primary.ssrc
        if usesFullIntra(request, on: self[side].lines[index]) {
            if request != .fullIntra(isRepeated: true) { self[side].lines[index].commandNumber &+= 1 }
            let entry = FullIntraRequest.Entry(ssrc: source, commandNumber: self[side].lines[index].commandNumber)
            sendFeedback(
                .fullIntraRequest(FullIntraRequest(sender: sender, entries: [entry])), as: sender, to: side, for: asker)
        } else {
            sendFeedback(
                .pictureLossIndication(PictureLossIndication(sender: sender, media: source)), as: sender, to: side,
                for: asker)
        }
    }

    /// Feedback travels in a compound that begins with a report and names the sender (RFC 4585 §3.1): reduced size (RFC 5506)
    /// would have to be negotiated.
    ///
    /// - Parameter asker: The side whose counters say if it could not be sent.
    mutating func sendFeedback(_ feedback: RTCPPacket, as sender: SSRC, to side: LegIndex, for asker: LegIndex? = nil) {
        guard let line = self[side].outgoing(sender)?.line, self[side].isReady(line) else {
            if let asker { self[asker].controlDrops.count(.peerNotReady) }
            return
        }
        let transport = self[side].lines[line].transport
        add(.receiverReport(ReceiverReport(ssrc: sender)), from: sender, to: side, over: transport)
        draft.append(feedback)
        transmitDraft(to: side)
    }

    /// The source that counts, or else the one that was heard last; or why none can be asked.
    private func keyFrameSource(on side: LegIndex, line index: Int, at now: MonotonicTime) throws(ControlDropReason)
        -> SSRC
    {
        let line = self[side].lines[index]
        guard self[side].isReady(index) else { throw .peerNotReady }
        guard !line.feedback.isDisjoint(with: [.pictureLossIndication, .fullIntraRequest]) else { throw .notNegotiated }
        if let last = line.lastKeyFrameRequest, now - last < configuration.keyFrameInterval { throw .rateLimited }
        guard let source = line.activeSource ?? self[side].lastHeardSource(line: index) else { throw .noSource }
        return source
    }

    private func usesFullIntra(_ request: KeyFrameRequest, on line: BridgeLine) -> Bool {
        switch request {
        case .pictureLoss: !line.feedback.contains(.pictureLossIndication)
        case .fullIntra: line.feedback.contains(.fullIntraRequest)
        }
    }
}
