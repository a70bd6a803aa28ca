internal import Audio
internal import CallControl
internal import DTLS
internal import MediaPlane
internal import Primitives
internal import SDP
internal import SRTP
internal import Sockets

/// A ClientHello of the gateway that has not been answered yet.
///
/// It is repeated over the path over which it was sent first, even if media would be sent over another one meanwhile.
/// If two peers received the same ClientHello, both would answer it, and only one handshake could continue. A path over
/// which no answer comes is considered dead and is given up.
struct PendingClientHello {
    static let patience = 3

    let path: Path
    /// How often it was sent over the path.
    var count = 1

    var pathOfRepetition: Path? { count < Self.patience ? path : nil }
}

/// One leg on its worker: the decisions of its session, and the DTLS and SRTP objects that carry them out.
///
/// The leg of a peer that does not bundle has several transports. Each of them is a `MediaLeg` with the same name and
/// index. The first one stands for the leg: it alone has an audio source and a quality rating, and it refers to the
/// others (docs/adr/0007).
///
/// Confined to its worker's thread; a debug build asserts it. For a leg that moves to another worker, a new object is
/// made there from its `TransportInTransit`.
final class MediaLeg {
    /// The number of the leg, the same on every worker.
    let number: LegNumber
    unowned let call: MediaCall
    let name: LegID
    let index: LegIndex
    /// The number of this transport within the leg.
    let transport: TransportNumber
    /// The other transports of the leg; empty for all but the first transport.
    var further: [MediaLeg] = []
    /// The transport whose events are reported as those of the leg.
    var principal = TransportNumber.first
    var session: PeerSession
    var dtls: DTLSTransport?
    /// The path of the first handshake record; `nil` before it has come.
    var handshakeOrigin: Path?
    /// The path of the last handshake record, over which answers go; `nil` before one has come.
    var handshakePath: Path?
    /// The ClientHello of the gateway and its path, while it has not been answered.
    var pendingClientHello: PendingClientHello?
    /// When the last flight of the handshake has to be repeated; `nil` if no repetition is due.
    var retransmission: MonotonicTime?
    var inbound: SRTPSession?
    var outbound: SRTPSession?
    /// The sources (SSRC) that the peer sends with, which `inbound` keeps state for.
    var sources = SourceGate()
    /// The path over which packets are sent; stored here, so that the session need not be asked for each packet.
    private(set) var destination: Path?
    /// No evidence shows that the peer is at the destination. The session limits what may be sent there.
    private(set) var isOnTrial = false
    var hasHeardMedia = false
    var quality = QualityWatch()
    /// The audio source of the leg when nothing is played to it.
    var usualSource: MediaSource?
    /// The audio source that is played to the leg; `nil` if nothing is played.
    var played: MediaSource?
    /// The player of that source; kept for an audio engine that is made later.
    var player: (any AudioPlayer)?
    /// DTMF digits are sent to the leg, and its audio source waits.
    var isInterrupted = false
    /// Other workers at which packets of the peer may arrive, because the leg was there before.
    var formerWorkers: [WorkerIndex] = []
    /// When a packet of the peer last came over a validated path of the leg, replayed packets included.
    var lastArrival = MonotonicTime.zero
    /// When the session is told next that packets of the peer arrive.
    var nextSign = MonotonicTime.zero
    /// When the former workers may be reminded next of a path that they know.
    var nextReminder = MonotonicTime.zero

    init(
        number: LegNumber, call: MediaCall, name: LegID, index: LegIndex, transport: TransportNumber = .first,
        session: PeerSession
    ) {
        self.number = number
        self.call = call
        self.name = name
        self.index = index
        self.transport = transport
        self.session = session
    }

    private func assertOwner() { assert(call.owner.isCurrent, "a leg is used on its call's thread") }

    /// Takes over the destination from the session. It is called after every call of the session that may change it.
    func followSession() {
        assertOwner()
        destination = session.destination
        isOnTrial = session.isOnTrial
    }

    /// The path for handshake flights, and for the closing alert.
    var pathOfHandshake: Path? {
        guard dtls?.state != .closed, let path = handshakePath ?? pendingClientHello?.pathOfRepetition,
            session.admitsHandshake(from: path)
        else { return destination }
        return path
    }

    /// Records that a handshake flight was sent over a path.
    func flightSent(by dtls: DTLSTransport, over path: Path) {
        assertOwner()
        guard dtls.role == .client, handshakePath == nil else { return }
        if pendingClientHello?.path == path {
            pendingClientHello?.count += 1
        } else {
            pendingClientHello = PendingClientHello(path: path)
        }
    }

    var nextDeadline: MonotonicTime? {
        assertOwner()
        var earliest = session.nextDeadline?.time
        if let retransmission { earliest = min(earliest ?? retransmission, retransmission) }
        for other in further {
            if let deadline = other.nextDeadline { earliest = min(earliest ?? deadline, deadline) }
        }
        return earliest
    }

    /// Takes over the audio sources of a leg that is replaced because its peer has changed.
    func takeSources(of previous: MediaLeg) {
        usualSource = previous.usualSource
        played = previous.played
        player = previous.player
        isInterrupted = previous.isInterrupted
    }

    /// Makes the SRTP sessions from the keys of a finished handshake; `false` if the handshake agreed on none. Throws
    /// what libsrtp reports.
    func installKeys(from dtls: DTLSTransport) throws(SRTPError) -> Bool {
        assertOwner()
        guard let keys = dtls.keyingMaterial else { return false }
        let profile = SRTPSession.Profile(keys.profile)
        inbound = try SRTPSession(profile: profile, key: keys.remote.value, direction: .inbound)
        outbound = try SRTPSession(profile: profile, key: keys.local.value, direction: .outbound)
        return true
    }
}
