internal import ICE
internal import MediaPlane
internal import Observability
internal import Primitives
internal import RTP
internal import SRTP
internal import STUN
internal import Sockets

/// Handles the packets that arrive on the sockets.
extension MediaWorker {
    /// Receives the packets that wait in a socket. While packets keep arriving, the socket is read again before the
    /// worker waits, which costs less than a wake-up for every few packets. Where wake-ups are paced, a socket that is
    /// empty is read again after the pause. `roundLimit` leaves time for the other sockets, commands and deadlines.
    ///
    /// Each read has its own time: the congestion control of senders uses arrival times, in which milliseconds matter.
    func receive(from socket: SocketIndex, _ context: inout WorkerContext) {
        for _ in 0..<Self.roundLimit {
            let count = context.transport.receive(from: socket)
            guard count > 0 else { return }
            context.readClock()
            dispatch(count, from: socket, &context)
            if pacing.isPacing, count < context.transport.pool.slots { return }
        }
    }

    private static let roundLimit = 16

    private func dispatch(
        _ count: Int, from socket: SocketIndex, _ context: inout WorkerContext
    ) {
        received &+= UInt64(count)
        for slot in 0..<count {
            guard !context.transport.isTruncated(slot) else {
                tally.drop(.malformed)
                continue
            }
            take(slot, over: Path(local: socket, remote: context.transport.remote(slot)), &context)
        }
    }

    /// Handles a packet of any kind, from any transport.
    func take(_ slot: Int, over path: Path, _ context: inout WorkerContext) {
        switch DatagramKind(of: context.transport.datagram(slot)) {
        case .rtp:
            pacing.noteMedia()
            relay(slot, over: path, &context)
        case .rtcp: receiveControl(slot, over: path, &context)
        case .stun:
            pacing.noteCheck()
            receiveCheck(slot, over: path, &context)
        case .dtls:
            pacing.noteHandshake(at: context.now)
            receiveHandshake(slot, over: path, &context)
        case .turnChannel, .other: tally.drop(.unclassified)
        }
    }

    // MARK: Media

    private func relay(_ slot: Int, over path: Path, _ context: inout WorkerContext) {
        switch paths.admission(over: path) {
        case .stray: receiveStray(slot, .media, over: path, &context)
        case .contested: receiveContested(slot, .media, over: path, &context)
        case .elsewhere(let host): passOn(slot, over: path, to: host, context)
        case .here(let leg, let isProven):
            tally.received(bytes: context.transport.count(slot))
            do throws(PacketRefusal) {
                let plain = try open(slot, .media, of: leg, &context)
                if !isProven { prove(path, by: leg, bytes: context.transport.count(slot)) }
                noteLife(of: leg, over: path, &context)
                mediaReceived(slot, count: plain, of: leg, &context)
            } catch {
                noteRepetition(error, of: leg, over: path, &context)
                count(error)
            }
        }
    }

    /// Handles an authenticated RTP packet.
    func mediaReceived(
        _ slot: Int, count: Int, of leg: MediaLeg, _ context: inout WorkerContext
    ) {
        let call = leg.call
        switch call.bridge.receive(
            context.transport.datagram(slot).extracting(0..<count), from: leg.index, over: leg.transport,
            at: context.now)
        {
        case .drop(let reason): tally.drop(PacketDropReason(reason))
        case .media(let arrival):
            if arrival.concernsDigits {
                hearDigits(
                    arrival, context.transport.datagram(slot).extracting(arrival.header.payloadRange), in: call,
                    at: context.now)
            }
            if arrival.isDecoded, let audio = call.audio {
                let due = audio.nextCycle
                audio.receive(
                    arrival, payload: context.transport.datagram(slot).extracting(arrival.header.payloadRange),
                    at: context.now)
                if audio.nextCycle != due { rearm(call) }
            }
            relay(arrival, in: slot, count: count, of: call, &context)
        }
        if !leg.hasHeardMedia {
            leg.hasHeardMedia = true
            perform(leg.session.mediaReceived(), for: leg, &context)
        }
        sendControl(of: call, &context)
    }

    /// Relays a packet to its receivers: a copy to each but the last one, which is sent the packet from the slot in
    /// which it arrived.
    private func relay(
        _ arrival: Arrival, in slot: Int, count: Int, of call: MediaCall, _ context: inout WorkerContext
    ) {
        guard arrival.receiverCount > 0 else { return }
        let now = context.now  // because the slot in use keeps the whole context from being read
        for receiver in 0..<(arrival.receiverCount - 1) {
            copy(context.transport.datagram(slot).extracting(0..<count))
            var packet = copy.mutableSpan
            guard let sent = protect(arrival, for: receiver, in: &packet, count: count, of: call, at: now) else {
                continue
            }
            context.transport.queue(copying: copy.span.extracting(0..<sent.count), over: sent.path)
        }
        var packet = context.transport.slot(slot)
        guard let sent = protect(arrival, for: arrival.receiverCount - 1, in: &packet, count: count, of: call, at: now)
        else { return }
        context.transport.queue(slot: slot, count: sent.count, over: sent.path)
    }

    private func copy(_ packet: Span<UInt8>) {
        for index in packet.indices { copy[index] = packet[index] }
    }

    /// Rewrites and protects the packet for a receiver. Returns the path and the size to be sent; `nil` if it is
    /// dropped.
    private func protect(
        _ arrival: Arrival, for receiver: Int, in packet: inout MutableSpan<UInt8>, count: Int, of call: MediaCall,
        at now: MonotonicTime
    ) -> (path: Path, count: Int)? {
        switch call.bridge.relay(arrival, toReceiver: receiver, in: &packet, count: count, at: now) {
        case .drop(let reason): tally.drop(PacketDropReason(reason))
        case .relay(let index, let number, let count):
            guard let peer = call.leg(index, over: number), let outbound = peer.outbound, let path = peer.destination
            else {
                tally.drop(.noRoute)
                return nil
            }
            do {
                let count = try outbound.protect(&packet, count: count)
                guard mayLeave(count, for: peer) else { return nil }
                tally.sent(bytes: count)
                return (path, count)
            } catch {
                countFailure(error)
            }
        }
        return nil
    }

    private func receiveControl(_ slot: Int, over path: Path, _ context: inout WorkerContext) {
        switch paths.admission(over: path) {
        case .stray: receiveStray(slot, .control, over: path, &context)
        case .contested: receiveContested(slot, .control, over: path, &context)
        case .elsewhere(let host): passOn(slot, over: path, to: host, context)
        case .here(let leg, let isProven):
            tally.controlReceived += 1
            do throws(PacketRefusal) {
                let plain = try open(slot, .control, of: leg, &context)
                if !isProven { prove(path, by: leg, bytes: context.transport.count(slot)) }
                noteLife(of: leg, over: path, &context)
                controlReceived(slot, count: plain, over: path, of: leg, &context)
            } catch {
                noteRepetition(error, of: leg, over: path, &context)
                count(error)
            }
        }
    }

    /// Handles an authenticated RTCP compound packet.
    func controlReceived(
        _ slot: Int, count: Int, over path: Path, of leg: MediaLeg, _ context: inout WorkerContext
    ) {
        leg.call.bridge.receiveControl(
            context.transport.datagram(slot).extracting(0..<count), from: leg.index, at: context.now)
        if leg.isOnTrial, leg.session.awaitsAnswer, let sent = leg.call.bridge.lastAnsweredReport(of: leg.index) {
            leg.session.reportAnswered(sentAt: sent, over: path)
            leg.followSession()
        }
        sendControl(of: leg.call, &context)
    }

    /// Protects and sends the RTCP and the repeated packets that the bridge has made, and follows changes of the audio
    /// sources.
    func sendControl(of call: MediaCall, _ context: inout WorkerContext) {
        while let output = call.bridge.poll() {
            switch output {
            case .transmitControl(let bytes, let index, let number):
                if let leg = call.leg(index, over: number), let outbound = leg.outbound,
                    let destination = leg.destination
                {
                    send(control: bytes.span, with: outbound, to: leg, over: destination, &context)
                }
                call.bridge.recycle(bytes)
            case .transmitMedia(let bytes, let index, let number):
                if let leg = call.leg(index, over: number), let outbound = leg.outbound,
                    let destination = leg.destination
                {
                    send(repetition: bytes.span, with: outbound, to: leg, over: destination, &context)
                }
                call.bridge.recycle(bytes)
            case .audioChanged:
                refreshAudio(of: call, at: context.now)
                rearm(call)
            }
        }
    }

    private func send(
        repetition packet: Span<UInt8>, with session: SRTPSession, to leg: MediaLeg, over path: Path,
        _ context: inout WorkerContext
    ) {
        copy(packet)
        do {
            var room = copy.mutableSpan
            let count = try session.protect(&room, count: packet.count)
            guard mayLeave(count, for: leg) else { return }
            context.transport.queue(copying: copy.span.extracting(0..<count), over: path)
            tally.sent(bytes: count)
        } catch {
            countFailure(error)
        }
    }

    private func send(
        control bytes: Span<UInt8>, with session: SRTPSession, to leg: MediaLeg, over path: Path,
        _ context: inout WorkerContext
    ) {
        precondition(
            bytes.count + SRTPSession.Profile.maximumTrailer <= copy.count, "the bridge's RTCP fits a datagram")
        copy(bytes)
        do {
            var packet = copy.mutableSpan
            let count = try session.protectControl(&packet, count: bytes.count)
            guard mayLeave(count, for: leg) else { return }
            context.transport.queue(copying: copy.span.extracting(0..<count), over: path)
            tally.controlSent += 1
        } catch {
            countFailure(error)
        }
    }

    /// Whether a packet may be sent to a leg's destination. An address that has not been proven to be the peer's is
    /// sent a limited amount only.
    func mayLeave(_ count: Int, for leg: MediaLeg) -> Bool {
        guard leg.isOnTrial, let path = leg.destination, !leg.session.maySend(bytes: count, over: path) else {
            return true
        }
        tally.drop(.unprovenPath)
        return false
    }

    // MARK: ICE

    /// Handles a STUN message. Returns whether its sender has shown that it knows a password of the gateway.
    @discardableResult
    func receiveCheck(_ slot: Int, over path: Path, _ context: inout WorkerContext) -> Bool {
        let raw = [UInt8](copying: context.transport.datagram(slot))
        let message: STUNMessage
        do {
            message = try STUNMessage(parsing: raw.span)
        } catch {
            environment.metrics.stunRefused[.malformed].increment()
            return false
        }
        // A message that names no local fragment belongs to no leg, and there is no password to authenticate a response
        // with.
        guard let username = message.username, let name = ICEUsername(parsing: username) else {
            environment.metrics.stunRefused[.unknownUsername].increment()
            return false
        }
        guard let leg = legsByFragment[name.receiver] else {
            if let host = movedLegs.host(of: name.receiver) {
                passOn(slot, over: path, to: host, context)
                // The worker that has the leg finds out whether the message is valid. Until then a connection has the
                // usual time.
                return true
            }
            environment.metrics.stunRefused[.unknownUsername].increment()
            return false
        }
        let actions = leg.session.receive(
            message, raw: raw.span, over: path, at: context.now, authentication: authentication)
        let refusal = actions.refusal
        // The path is admitted first, because the peer goes on when it has the response, which may leave from another
        // worker.
        if refusal == nil { admit(path, of: leg, isNew: actions.contains(.pathValidated(path)), &context) }
        perform(actions, for: leg, &context)
        rearm(leg.call)
        if let refusal { return refusal.isAuthenticated }
        environment.metrics.stunRequests.increment()
        return true
    }
}

extension [SessionAction] {
    /// Why the message that led to these actions had no effect; `nil` if it had one.
    fileprivate var refusal: ICERefusal? {
        for case .refused(let refusal) in self { return refusal }
        return nil
    }
}
