internal import MediaPlane
internal import Observability
internal import Primitives
internal import SRTP

/// The kinds of packets that SRTP protects.
enum ProtectedKind {
    case media
    case control

    /// The SSRC in the clear part of the header (RFC 3550 §5.1, §6.4.1); `nil` if the packet is too short.
    func source(of packet: Span<UInt8>) -> SSRC? {
        let offset =
            switch self {
            case .media: 8
            case .control: 4
            }
        guard packet.count >= offset + 4 else { return nil }
        var number: UInt32 = 0
        for index in offset..<(offset + 4) { number = number << 8 | UInt32(packet[index]) }
        return SSRC(number)
    }
}

/// Why a packet of a peer is not decrypted.
enum PacketRefusal: Error {
    /// The DTLS handshake has not finished.
    case notConnected
    /// The leg has the maximum number of sources, or has had too many new ones recently.
    case tooManySources
    case protection(SRTPError)
}

/// Authentication and decryption of SRTP and SRTCP.
extension MediaWorker {
    /// Authenticates and decrypts a packet of a leg's peer in its slot. Returns the length of the plain packet.
    func open(
        _ slot: Int, _ kind: ProtectedKind, of leg: MediaLeg, _ context: inout WorkerContext
    ) throws(PacketRefusal) -> Int {
        guard let inbound = leg.inbound else { throw .notConnected }
        guard let source = kind.source(of: context.transport.datagram(slot)) else { throw .protection(.malformed) }
        if leg.sources.knows(source) { return try unprotect(slot, kind, with: inbound, &context) }
        let bridge = leg.call.bridge
        let isKnown: (SSRC) -> Bool = { bridge.knows($0, on: leg.index) }
        guard leg.sources.hasRoom(forAnnounced: isKnown(source), at: context.now) else { throw .tooManySources }
        let count = try unprotect(slot, kind, with: inbound, &context)
        if let forgotten = leg.sources.enter(source, at: context.now, isAnnounced: isKnown) {
            inbound.forget(forgotten)
            forgetSource(forgotten, of: leg)
            tellFormerWorkers(of: leg, .forgotten(leg.number, [forgotten]))
        }
        noteSource(source, of: leg)
        tellFormerWorkers(of: leg, .heard(leg.number, [source]))
        return count
    }

    private func unprotect(
        _ slot: Int, _ kind: ProtectedKind, with session: SRTPSession, _ context: inout WorkerContext
    ) throws(PacketRefusal) -> Int {
        let received = context.transport.count(slot)
        var packet = context.transport.slot(slot)
        do {
            switch kind {
            case .media: return try session.unprotect(&packet, count: received)
            case .control: return try session.unprotectControl(&packet, count: received)
            }
        } catch {
            throw .protection(error)
        }
    }

    func count(_ refusal: PacketRefusal) {
        switch refusal {
        case .notConnected: tally.drop(.notConnected)
        case .tooManySources: tally.drop(.tooManySources)
        case .protection(let error): countFailure(error)
        }
    }

    func countFailure(_ error: SRTPError) {
        environment.metrics.srtpFailures[SRTPFailure(error)].increment()
    }
}
