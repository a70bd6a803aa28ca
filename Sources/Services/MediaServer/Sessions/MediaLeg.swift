internal import Audio
internal import CallControl
internal import DTLS
internal import MediaPlane
internal import Primitives
internal import SDP
internal import SRTP

/// A ClientHello of ours that nobody has answered yet.
///
/// It is repeated over the path that it went over first, wherever media would go meanwhile. Of two peers that hear the same ClientHello both
/// answer it, and only one of them can go on. A path that stays silent is dead, and is left then.
struct Greeting {
    static let patience = 3

    let path: Path
    /// How often it was sent there.
    var count = 1

    var pathOfRepetition: Path? { count < Self.patience ? path : nil }
}

/// One leg on its worker: the session's decisions with the DTLS and SRTP machines they are about.
///
/// The leg of a peer that does not bundle has several transports, and each of them is one of these, with the same name and
/// place. The first stands for the leg: it alone hears and is rated, and knows the others (docs/adr/0007).
///
/// Confined to its worker's thread.
final class MediaLeg {
    /// Its name on every worker.
    let number: LegNumber
    unowned let call: MediaCall
    let name: Leg
    let index: LegIndex
    /// Which of the leg's transports it is.
    let transport: TransportNumber
    /// The leg's other transports.
    var further: [MediaLeg] = []
    /// The transport whose events are the leg's.
    var principal = TransportNumber.first
    var session: PeerSession
    var dtls: DTLSTransport?
    /// What the first record of the handshake came over, and the last one.
    var handshakeOrigin: Path?
    var handshakePath: Path?
    /// Where our ClientHello went, while nobody has answered it.
    var greeting: Greeting?
    /// When the handshake's last flight has to be repeated.
    var retransmission: MonotonicTime?
    var inbound: SRTPSession?
    var outbound: SRTPSession?
    /// Whose packets `inbound` has to do with.
    var sources = SourceGate()
    /// Where to send; kept here so that no packet has to ask the session.
    private(set) var destination: Path?
    /// Nothing proves that the peer is there: little may be sent, and the session says how much.
    private(set) var isOnTrial = false
    var hasHeardMedia = false
    var quality = QualityWatch()
    /// What the leg hears when nothing is played to it.
    var usualSource: MediaSource?
    /// What is played to it.
    var played: MediaSource?
    /// What plays it; kept for an engine that is yet to be made.
    var player: (any AudioPlayer)?
    /// Keys are pressed, and what it hears otherwise waits.
    var isInterrupted = false
    /// Workers that its peer's packets may come to, besides the one it is on.
    var formerWorkers: [WorkerIndex] = []
    /// When something of its peer came last over a path of its own, new or repeated.
    var lastArrival = MonotonicTime.zero
    /// When its session is to be told again that its peer is heard.
    var nextSign = MonotonicTime.zero
    /// When they may be told again of a path that they know.
    var nextReminder = MonotonicTime.zero

    init(
        number: LegNumber, call: MediaCall, name: Leg, index: LegIndex, transport: TransportNumber = .first,
        session: PeerSession
    ) {
        self.number = number
        self.call = call
        self.name = name
        self.index = index
        self.transport = transport
        self.session = session
    }

    /// To be called whenever the session has been asked something that may change where it sends.
    func followSession() {
        destination = session.destination
        isOnTrial = session.isOnTrial
    }

    /// Where a flight goes, and a good-bye.
    var pathOfHandshake: Path? {
        guard dtls?.state != .closed, let path = handshakePath ?? greeting?.pathOfRepetition,
            session.admitsHandshake(from: path)
        else { return destination }
        return path
    }

    /// A flight has left over this path.
    func flightSent(by dtls: DTLSTransport, over path: Path) {
        guard dtls.role == .client, handshakePath == nil else { return }
        if greeting?.path == path { greeting?.count += 1 } else { greeting = Greeting(path: path) }
    }

    var nextDeadline: MonotonicTime? {
        var earliest = session.nextDeadline?.time
        if let retransmission { earliest = min(earliest ?? retransmission, retransmission) }
        for other in further {
            if let deadline = other.nextDeadline { earliest = min(earliest ?? deadline, deadline) }
        }
        return earliest
    }

    /// The same leg with another peer: what it hears stays.
    func takeSources(of previous: MediaLeg) {
        usualSource = previous.usualSource
        played = previous.played
        player = previous.player
        isInterrupted = previous.isInterrupted
    }

    /// Takes over the keys of a finished handshake; `false` if there are none to be had.
    func installKeys(from dtls: DTLSTransport) throws(SRTPError) -> Bool {
        guard let keys = dtls.keyingMaterial else { return false }
        let profile = SRTPSession.Profile(keys.profile)
        inbound = try SRTPSession(profile: profile, key: keys.remote.value, direction: .inbound)
        outbound = try SRTPSession(profile: profile, key: keys.local.value, direction: .outbound)
        return true
    }
}
