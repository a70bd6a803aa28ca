internal import CallControl
internal import DTLS
internal import MediaPlane
internal import Primitives
internal import SDP
internal import SRTP

/// A leg on its way between two workers: all of its own state, and no state of a worker or a call.
struct LegInTransit {
    let streams: MovingLeg
    var quality = QualityWatch()
    var principal = TransportNumber.first
    /// The transports of the leg, the first one at index 0; none of a headless leg.
    var transports: [TransportInTransit] = []
    /// The voice of a headless leg; `nil` for other legs.
    var voice: SpeakingVoice?

    init(streams: MovingLeg) { self.streams = streams }
}

/// One transport of such a leg.
struct TransportInTransit {
    let number: LegNumber
    let transport: TransportNumber
    let session: PeerSession
    let dtls: DTLSTransport?
    let handshakeOrigin: Path?
    let handshakePath: Path?
    let pendingClientHello: PendingClientHello?
    let retransmission: MonotonicTime?
    let inbound: SRTPSession?
    let outbound: SRTPSession?
    let sources: SourceGate
    let hasHeardMedia: Bool
    /// The paths that it claims.
    let paths: [Path]
    /// Workers that the leg has been on, including the one that it leaves.
    let formerWorkers: [WorkerIndex]

    /// Takes the state out of a leg, which must not be used afterwards.
    init(_ leg: MediaLeg, paths: [Path], formerWorkers: [WorkerIndex]) {
        number = leg.number
        transport = leg.transport
        session = leg.session
        dtls = leg.dtls
        handshakeOrigin = leg.handshakeOrigin
        handshakePath = leg.handshakePath
        pendingClientHello = leg.pendingClientHello
        retransmission = leg.retransmission
        inbound = leg.inbound
        outbound = leg.outbound
        sources = leg.sources
        hasHeardMedia = leg.hasHeardMedia
        self.paths = paths
        self.formerWorkers = formerWorkers
    }
}

extension MediaLeg {
    /// Makes the leg on the worker where it arrives. It has no audio source yet.
    convenience init(_ arrived: TransportInTransit, in call: MediaCall, as name: LegID, at index: LegIndex) {
        self.init(
            number: arrived.number, call: call, name: name, index: index, transport: arrived.transport,
            session: arrived.session)
        dtls = arrived.dtls
        handshakeOrigin = arrived.handshakeOrigin
        handshakePath = arrived.handshakePath
        pendingClientHello = arrived.pendingClientHello
        retransmission = arrived.retransmission
        inbound = arrived.inbound
        outbound = arrived.outbound
        sources = arrived.sources
        followSession()
        hasHeardMedia = arrived.hasHeardMedia
        formerWorkers = arrived.formerWorkers
    }
}
