import Primitives
import RTP

/// The kind of a request for a key frame.
enum KeyFrameRequest: Equatable {
    /// A picture loss indication, PLI (RFC 4585 §6.3.1).
    case pictureLoss
    /// A full intra request, FIR. A repetition keeps its sequence number (RFC 5104 §4.3.1.2).
    case fullIntra(isRepeated: Bool)
}

/// Requests for key frames to sources.
extension Bridge {
    /// Asks the peer of `side` for a key frame on an m-line, by the feedback that it supports, unless it was asked just
    /// now.
    ///
    /// - Parameters:
    ///   - side: The leg that sends the video.
    ///   - index: The index of its m-line.
    ///   - request: The kind of request.
    ///   - asker: The leg that asks; a dropped request is counted there. `nil` if the gateway asks.
    ///   - now: The time.
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

    /// Sends feedback in a compound packet that starts with a report and the CNAME of the sender (RFC 4585 §3.1).
    /// Reduced-size RTCP (RFC 5506) would have to be negotiated.
    ///
    /// - Parameters:
    ///   - feedback: The feedback.
    ///   - sender: The gateway's SSRC that it comes from.
    ///   - side: The leg that gets it.
    ///   - asker: The leg whose counters say that it could not be sent; `nil` for none.
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

    /// The active source, or else the one heard last; throws the reason if none can be asked.
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
