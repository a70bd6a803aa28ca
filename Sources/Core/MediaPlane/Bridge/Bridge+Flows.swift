import Primitives
import RTP
import SDP

/// Which m-line feeds which. This is computed after every change, and looked up for every packet.
extension Bridge {
    /// Computes what is sent on every m-line, and where the packets of every sender go.
    ///
    /// A flow that starts continues the outgoing sequence numbers without a gap, and video needs a key frame.
    mutating func refreshFlows(at now: MonotonicTime) {
        let before = legs
        for place in legs.indices {
            for line in legs[place].lines.indices {
                legs[place].lines[line].receivers = []
                legs[place].lines[line].isDecoded = false
                legs[place].lines[line].obstacle = isEnded ? .ended : .noCounterpart
            }
        }
        for index in indices { refreshFeeds(of: index) }
        for index in indices { refreshObstacles(of: index) }
        for index in indices { start(index, after: before, at: now) }
    }

    /// Takes note of a packet that its receiver cannot get unchanged. From the next packet on, the audio is transcoded
    /// for that receiver. A peer may send every codec that it agreed on, and every codec that the gateway has offered
    /// it (RFC 3264 §5.1).
    mutating func noteUnrelayable(_ arrival: Arrival, at now: MonotonicTime) {
        if self[arrival.leg].lines[arrival.line].noteUnrelayable(arrival.format) { flowsAreStaleSince = now }
    }

    private mutating func refreshFeeds(of index: LegIndex) {
        for line in self[index].lines.indices {
            let feed = isEnded ? .nothing : feed(of: index, line: line)
            self[index].lines[line].feed = feed
            switch feed {
            case .relayed(let sender, let source):
                self[sender].lines[source].receivers.append(Receiver(leg: index, line: line))
                self[index].lines[line].translation = PayloadTranslation(
                    from: self[sender].lines[source], to: self[index].lines[line])
                self[index].lines[line].extensionNumbering = ExtensionNumbering(
                    from: self[sender].lines[source], to: self[index].lines[line])
            case .transcoded(let sender, let source):
                self[sender].lines[source].isDecoded = true
            case .generated, .nothing: break
            }
        }
    }

    private func feed(of index: LegIndex, line: Int) -> LineFeed {
        let receiver = self[index].lines[line]
        guard self[index].isReady(line), receiver.direction.sends else { return .nothing }
        switch self[index].source(of: receiver.kind) {
        case .silence: return .nothing
        case .player, .mix: return receiver.kind == .audio && receiver.primaryCodec != nil ? .generated : .nothing
        case .leg(let sender):
            guard self[sender].isPresent, let source = sendingLine(of: sender, for: index, line: line) else {
                return .nothing
            }
            guard self[sender].lines[source].direction.receives else { return .nothing }
            let isHeadless = self[sender].isHeadless || self[index].isHeadless
            if !isHeadless, self[sender].lines[source].fits(receiver) { return .relayed(from: sender, line: source) }
            return receiver.kind == .audio && receiver.primaryCodec != nil
                ? .transcoded(from: sender, line: source) : .nothing
        }
    }

    /// The m-line of `sender` whose counterpart is this one.
    private func sendingLine(of sender: LegIndex, for receiver: LegIndex, line: Int) -> Int? {
        self[sender].lines.indices.first { self[receiver].counterpart(of: $0, on: self[sender]) == line }
    }

    /// Sets the reason for which packets of an m-line are dropped, if there is one.
    private mutating func refreshObstacles(of index: LegIndex) {
        for line in self[index].lines.indices {
            if self[index].audioSource == .mix, self[index].lines[line].kind == .audio,
                self[index].lines[line].direction.receives
            {
                self[index].lines[line].isDecoded = !isEnded
            }
            let obstacle = obstacle(from: index, line: line)
            self[index].lines[line].obstacle = obstacle
            if obstacle == .directionForbids { self[index].lines[line].pausePictures() }
        }
    }

    private func obstacle(from index: LegIndex, line: Int) -> DropReason? {
        let sender = self[index].lines[line]
        if isEnded { return .ended }
        if !sender.direction.receives { return .directionForbids }
        if !sender.receivers.isEmpty || sender.isDecoded { return nil }
        // The first leg that has this source names the reason, if there is one.
        for other in indices where self[other].source(of: sender.kind) == .leg(index) {
            guard let counterpart = self[other].counterpart(of: line, on: self[index]) else { continue }
            if !self[other].lines[counterpart].direction.sends { return .directionForbids }
            if !self[other].isReady(counterpart) { return .peerNotReady }
        }
        return .noCounterpart
    }

    /// Restarts the streams that have another source than before.
    private mutating func start(_ index: LegIndex, after before: [BridgeLeg], at now: MonotonicTime) {
        for line in self[index].lines.indices {
            let feed = self[index].lines[line].feed
            let known = before[index.place].lines.indices.contains(line) ? before[index.place].lines[line] : nil
            guard known?.feed != feed || known?.primary.ssrc != self[index].lines[line].primary.ssrc else { continue }
            self[index].lines[line].primary.detach()
            self[index].lines[line].retransmission?.detach()
            self[index].lines[line].waits.pause(at: now)
            guard case .relayed(let sender, let source) = feed, self[index].lines[line].kind == .video else { continue }
            requestKeyFrame(from: sender, line: source, as: .pictureLoss, at: now)
        }
    }
}

extension BridgeLine {
    /// The codec with which the gateway encodes audio for this peer: the first one that carries media.
    var primaryCodec: Codec? { codecs.first(where: \.carriesMedia) }

    /// Whether `receiver` can get packets of this m-line unchanged, both of the codec that the peer prefers and of
    /// those that it is known to send.
    fileprivate func fits(_ receiver: BridgeLine) -> Bool {
        guard kind == receiver.kind, let preferred = primaryCodec else { return false }
        let translation = PayloadTranslation(from: self, to: receiver)
        return ([preferred.payloadType] + unrelayable).allSatisfy { translation[$0] != nil }
    }
}
