internal import CallControl
internal import DTLS
internal import MediaPlane
internal import Primitives
internal import SRTP

/// A leg between two workers: everything that is its own, and nothing that is either worker's or call's.
struct TravellingLeg {
    let streams: MovingLeg
    let session: PeerSession
    let dtls: DTLSTransport?
    let retransmission: MonotonicTime?
    let inbound: SRTPSession?
    let outbound: SRTPSession?
    let hasHeardMedia: Bool
    let quality: QualityWatch
    /// The validated paths that are still its own.
    let paths: [Path]
    /// Where it has been, the worker that it leaves included.
    let formerWorkers: [WorkerIndex]

    /// The leg must not be used any more.
    init(_ leg: MediaLeg, _ streams: MovingLeg, paths: [Path], formerWorkers: [WorkerIndex]) {
        self.streams = streams
        session = leg.session
        dtls = leg.dtls
        retransmission = leg.retransmission
        inbound = leg.inbound
        outbound = leg.outbound
        hasHeardMedia = leg.hasHeardMedia
        quality = leg.quality
        self.paths = paths
        self.formerWorkers = formerWorkers
    }
}

extension MediaLeg {
    /// Where it arrives, a leg hears nothing yet.
    convenience init(_ arrived: TravellingLeg, in call: MediaCall, as name: Leg, at index: LegIndex) {
        self.init(call: call, name: name, index: index, session: arrived.session)
        dtls = arrived.dtls
        retransmission = arrived.retransmission
        inbound = arrived.inbound
        outbound = arrived.outbound
        destination = arrived.session.selectedPath
        hasHeardMedia = arrived.hasHeardMedia
        quality = arrived.quality
        formerWorkers = arrived.formerWorkers
    }
}
