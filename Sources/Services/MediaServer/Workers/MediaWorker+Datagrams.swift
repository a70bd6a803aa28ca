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
    /// worker waits, which costs less than a wake-up for every few packets. `roundLimit` leaves time for the other
    /// sockets, commands and deadlines.
    ///
    /// Every look has a time of its own: what senders learn of their path from arrival times is in the milliseconds between them.
    func receive(from socket: SocketIndex, _ transport: inout PacketTransport) {
        for _ in 0..<Self.roundLimit {
            let count = transport.receive(from: socket)
            guard count > 0 else { return }
            dispatch(count, from: socket, &transport, at: MonotonicClock.now)
        }
    }

    private static let roundLimit = 16

    private func dispatch(
        _ count: Int, from socket: SocketIndex, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        for slot in 0..<count {
            guard !transport.isTruncated(slot) else {
                tally.drop(.malformed)
                continue
            }
            take(slot, over: Path(local: socket, remote: transport.remote(slot)), &transport, at: now)
        }
    }

    /// A packet has come, whatever it is and whatever carried it.
    func take(_ slot: Int, over path: Path, _ transport: inout PacketTransport, at now: MonotonicTime) {
        switch DatagramKind(of: transport.datagram(slot)) {
        case .rtp: relay(slot, over: path, &transport, at: now)
        case .rtcp: receiveControl(slot, over: path, &transport, at: now)
        case .stun: receiveCheck(slot, over: path, &transport, at: now)
        case .dtls: receiveHandshake(slot, over: path, &transport, at: now)
        case .turnChannel, .other: tally.drop(.unclassified)
        }
    }

    // MARK: Media

    private func relay(_ slot: Int, over path: Path, _ transport: inout PacketTransport, at now: MonotonicTime) {
        guard let holding = paths.holding(of: path) else {
            return receiveStray(slot, .media, over: path, &transport, at: now)
        }
        guard !holding.isContested else { return receiveContested(slot, .media, over: path, &transport, at: now) }
        switch holding.owner.place {
        case .elsewhere(let host): passOn(slot, over: path, to: host, transport)
        case .here(let leg):
            tally.received(bytes: transport.count(slot))
            do throws(PacketRefusal) {
                let plain = try open(slot, .media, of: leg, &transport, at: now)
                if !holding.owner.isProven { prove(path, by: leg, bytes: transport.count(slot)) }
                noteLife(of: leg, over: path, &transport, at: now)
                mediaReceived(slot, count: plain, of: leg, &transport, at: now)
            } catch {
                noteRepetition(error, of: leg, over: path, &transport, at: now)
                count(error)
            }
        }
    }

    /// Handles an authenticated RTP packet.
    func mediaReceived(
        _ slot: Int, count: Int, of leg: MediaLeg, _ transport: inout PacketTransport, at now: MonotonicTime
    ) {
        let call = leg.call
        switch call.bridge.receive(
            transport.datagram(slot).extracting(0..<count), from: leg.index, over: leg.transport, at: now)
        {
        case .drop(let reason): tally.drop(PacketDropReason(reason))
        case .media(let arrival):
            if arrival.isDecoded {
                call.audio?.receive(
                    arrival, payload: transport.datagram(slot).extracting(arrival.header.payloadRange), at: now)
            }
            forward(arrival, in: slot, count: count, of: call, &transport, at: now)
        }
        if !leg.hasHeardMedia {
            leg.hasHeardMedia = true
            perform(leg.session.mediaReceived(), for: leg, &transport, at: now)
        }
        sendControl(of: call, &transport)
    }

    /// Relays a packet to its receivers: a copy to each but the last one, which is sent the packet from the slot in
    /// which it arrived.
    private func forward(
        _ arrival: Arrival, in slot: Int, count: Int, of call: MediaCall, _ transport: inout PacketTransport,
        at now: MonotonicTime
    ) {
        guard arrival.receiverCount > 0 else { return }
        for receiver in 0..<(arrival.receiverCount - 1) {
            copy(transport.datagram(slot).extracting(0..<count))
            var packet = copy.mutableSpan
            guard let sent = protect(arrival, for: receiver, in: &packet, count: count, of: call, at: now) else {
                continue
            }
            transport.queue(copying: copy.span.extracting(0..<sent.count), over: sent.path)
        }
        var packet = transport.slot(slot)
        guard let sent = protect(arrival, for: arrival.receiverCount - 1, in: &packet, count: count, of: call, at: now)
        else { return }
        transport.queue(slot: slot, count: sent.count, over: sent.path)
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
        switch call.bridge.forward(arrival, toReceiver: receiver, in: &packet, count: count, at: now) {
        case .drop(let reason): tally.drop(PacketDropReason(reason))
        case .forward(let index, let number, let count):
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

    private func receiveControl(_ slot: Int, over path: Path, _ transport: inout PacketTransport, at now: MonotonicTime)
    {
        guard let holding = paths.holding(of: path) else {
            return receiveStray(slot, .control, over: path, &transport, at: now)
        }
        guard !holding.isContested else { return receiveContested(slot, .control, over: path, &transport, at: now) }
        switch holding.owner.place {
        case .elsewhere(let host): passOn(slot, over: path, to: host, transport)
        case .here(let leg):
            tally.controlReceived += 1
            do throws(PacketRefusal) {
                let plain = try open(slot, .control, of: leg, &transport, at: now)
                if !holding.owner.isProven { prove(path, by: leg, bytes: transport.count(slot)) }
                noteLife(of: leg, over: path, &transport, at: now)
                controlReceived(slot, count: plain, over: path, of: leg, &transport, at: now)
            } catch {
                noteRepetition(error, of: leg, over: path, &transport, at: now)
                count(error)
            }
        }
    }

    /// Handles an authenticated RTCP compound packet.
    func controlReceived(
        _ slot: Int, count: Int, over path: Path, of leg: MediaLeg, _ transport: inout PacketTransport,
        at now: MonotonicTime
    ) {
        leg.call.bridge.receiveControl(transport.datagram(slot).extracting(0..<count), from: leg.index, at: now)
        if leg.isOnTrial, leg.session.awaitsAnswer, let sent = leg.call.bridge.lastAnsweredReport(of: leg.index) {
            leg.session.reportAnswered(sentAt: sent, over: path)
            leg.followSession()
        }
        sendControl(of: leg.call, &transport)
    }

    /// Protects and sends what the bridge has to say.
    func sendControl(of call: MediaCall, _ transport: inout PacketTransport) {
        while let output = call.bridge.poll() {
            switch output {
            case .transmitControl(let bytes, let index, let number):
                if let leg = call.leg(index, over: number), let outbound = leg.outbound,
                    let destination = leg.destination
                {
                    send(control: bytes.span, with: outbound, to: leg, over: destination, &transport)
                }
                call.bridge.recycle(bytes)
            case .transmitMedia(let bytes, let index, let number):
                if let leg = call.leg(index, over: number), let outbound = leg.outbound,
                    let destination = leg.destination
                {
                    send(repetition: bytes.span, with: outbound, to: leg, over: destination, &transport)
                }
                call.bridge.recycle(bytes)
            case .audioChanged:
                refreshAudio(of: call, at: MonotonicClock.now)
                rearm(call)
            }
        }
    }

    private func send(
        repetition packet: Span<UInt8>, with session: SRTPSession, to leg: MediaLeg, over path: Path,
        _ transport: inout PacketTransport
    ) {
        copy(packet)
        do {
            var room = copy.mutableSpan
            let count = try session.protect(&room, count: packet.count)
            guard mayLeave(count, for: leg) else { return }
            transport.queue(copying: copy.span.extracting(0..<count), over: path)
            tally.sent(bytes: count)
        } catch {
            countFailure(error)
        }
    }

    private func send(
        control bytes: Span<UInt8>, with session: SRTPSession, to leg: MediaLeg, over path: Path,
        _ transport: inout PacketTransport
    ) {
        precondition(
            bytes.count + SRTPSession.Profile.maximumTrailer <= copy.count, "the bridge's RTCP fits a datagram")
        copy(bytes)
        do {
            var packet = copy.mutableSpan
            let count = try session.protectControl(&packet, count: bytes.count)
            guard mayLeave(count, for: leg) else { return }
            transport.queue(copying: copy.span.extracting(0..<count), over: path)
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
    func receiveCheck(_ slot: Int, over path: Path, _ transport: inout PacketTransport, at now: MonotonicTime) -> Bool {
        let raw = [UInt8](copying: transport.datagram(slot))
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
            if let host = forwarding.host(of: name.receiver) {
                passOn(slot, over: path, to: host, transport)
                // Whether it is valid is found there; a connection has the usual time until then.
                return true
            }
            environment.metrics.stunRefused[.unknownUsername].increment()
            return false
        }
        let actions = leg.session.receive(message, raw: raw.span, over: path, at: now, authentication: authentication)
        let refusal = actions.refusal
        // First, because the answer, which may leave from another worker, lets the peer go on.
        if refusal == nil { admit(path, of: leg, isNew: actions.contains(.pathValidated(path)), &transport, at: now) }
        perform(actions, for: leg, &transport, at: now)
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
