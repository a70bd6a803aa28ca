internal import CallControl
internal import DTLS
internal import MediaPlane
internal import Primitives
internal import SDP
internal import SRTP

/// A leg between two workers: everything that is its own, and nothing that is either worker's or call's.
struct TravellingLeg {
    let streams: MovingLeg
    let quality: QualityWatch
    let principal: TransportNumber
    /// The first of them at first.
    let transports: [TravellingTransport]
}

/// One of the transports of such a leg.
struct TravellingTransport {
    let number: LegNumber
    let transport: TransportNumber
    let session: PeerSession
    let dtls: DTLSTransport?
    let handshakeOrigin: Path?
    let handshakePath: Path?
    let greeting: Greeting?
    let retransmission: MonotonicTime?
    let inbound: SRTPSession?
    let outbound: SRTPSession?
    let sources: SourceGate
    let hasHeardMedia: Bool
    /// The paths that it claims.
    let paths: [Path]
    /// Where it has been, the worker that it leaves included.
    let formerWorkers: [WorkerIndex]

    /// The leg must not be used any more.
    init(_ leg: MediaLeg, paths: [Path], formerWorkers: [WorkerIndex]) {
        number = leg.number
        transport = leg.transport
        session = leg.session
        dtls = leg.dtls
        handshakeOrigin = leg.handshakeOrigin
        handshakePath = leg.handshakePath
        greeting = leg.greeting
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
    /// Where it arrives, a leg hears nothing yet.
    convenience init(_ arrived: TravellingTransport, in call: MediaCall, as name: Leg, at index: LegIndex) {
        self.init(
            number: arrived.number, call: call, name: name, index: index, transport: arrived.transport,
            session: arrived.session)
        dtls = arrived.dtls
        handshakeOrigin = arrived.handshakeOrigin
        handshakePath = arrived.handshakePath
        greeting = arrived.greeting
        retransmission = arrived.retransmission
        inbound = arrived.inbound
        outbound = arrived.outbound
        sources = arrived.sources
        followSession()
        hasHeardMedia = arrived.hasHeardMedia
        formerWorkers = arrived.formerWorkers
    }
}
