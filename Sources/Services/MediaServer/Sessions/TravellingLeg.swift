internal import CallControl
internal import DTLS
internal import MediaPlane
internal import Primitives
internal import SRTP

/// A leg between two workers: everything that is its own, and nothing that is either worker's or call's.
struct TravellingLeg {
    let number: LegNumber
    let streams: MovingLeg
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
    let quality: QualityWatch
    /// The paths that it claims.
    let paths: [Path]
    /// Where it has been, the worker that it leaves included.
    let formerWorkers: [WorkerIndex]

    /// The leg must not be used any more.
    init(_ leg: MediaLeg, _ streams: MovingLeg, paths: [Path], formerWorkers: [WorkerIndex]) {
        number = leg.number
        self.streams = streams
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
        quality = leg.quality
        self.paths = paths
        self.formerWorkers = formerWorkers
    }
}

extension MediaLeg {
    /// Where it arrives, a leg hears nothing yet.
    convenience init(_ arrived: TravellingLeg, in call: MediaCall, as name: Leg, at index: LegIndex) {
        self.init(number: arrived.number, call: call, name: name, index: index, session: arrived.session)
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
        quality = arrived.quality
        formerWorkers = arrived.formerWorkers
    }
}
