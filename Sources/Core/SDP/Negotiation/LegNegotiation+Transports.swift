import Primitives

/// The transports of a leg, as its descriptions settle them (docs/adr/0007).
struct LegTransports {
    var first: NegotiatedTransport
    var further: [TransportNumber: NegotiatedTransport]

    /// `nil` if there is none at all.
    ///
    /// - Parameter standing: What was agreed before. A first transport that has no m-line any more stays as it was.
    init?(_ transports: [TransportNumber: NegotiatedTransport], standing: NegotiatedLeg?) {
        guard !transports.isEmpty, let first = transports[.first] ?? standing?.transport else { return nil }
        self.first = first
        further = transports.filter { $0.key != .first }
    }
}

extension NegotiatedLeg {
    init(_ transports: LegTransports, media: [NegotiatedMedia]) {
        self.init(transport: transports.first, media: media)
        furtherTransports = transports.further
    }

    /// Whether the peer has shown that it does not bundle.
    var isSpread: Bool { !furtherTransports.isEmpty }
}

extension NegotiatedTransport {
    /// Whether the peer's credentials are those of an ICE restart: both are new (RFC 8839 §4.4.1.1.1).
    func isRestarted(by offered: ICECredentials) -> Bool {
        offered.ufrag != remote.ufrag && offered.password != remote.password
    }
}

// MARK: - Offers of the gateway

extension [LocalMedia] {
    /// Gives credentials of its own to every m-line of an offer that may not be bundled.
    ///
    /// An m-line that is on a transport already keeps it. A new one gets credentials unless the peer bundles. A first
    /// offer has the leg's for all: Pion 3.1 and webrtcbin 1.22 refuse one whose m-lines have their own.
    mutating func chooseCredentials(standing: NegotiatedLeg?, peerBundles: Bool, random: inout some RandomSource) {
        guard let standing else { return }
        for index in indices where !self[index].isRejected {
            if index < standing.media.count, !standing.media[index].isRejected {
                self[index].transport = standing.media[index].transport
                self[index].credentials = standing.furtherTransports[self[index].transport]?.local
            } else if !peerBundles {
                self[index].transport = TransportNumber(ofLine: index)
                self[index].credentials = ICECredentials(using: &random)
            }
        }
    }

    /// The BUNDLE groups of an offer: one of all m-lines, or, to a peer that does not bundle, those that it has itself.
    func groupsOfOffer(to standing: NegotiatedLeg?) -> [[Int]] {
        let carried = indices.filter { !self[$0].isRejected }
        guard standing?.isSpread == true else { return [carried] }
        return Dictionary(grouping: carried) { self[$0].transport }.values.filter { $0.count > 1 }.sorted {
            $0[0] < $1[0]
        }
    }
}

// MARK: - Answers of the gateway

extension [LocalMedia] {
    /// Puts each m-line of an answer on its transport.
    mutating func spread(answering offer: PeerDescription, standing: NegotiatedLeg?) {
        let carried = map { !$0.isRejected }
        for (index, number) in offer.transportNumbers(agreed: standing?.media ?? [], isCarried: { carried[$0] })
            .enumerated()
        {
            self[index].transport = number
        }
    }

    /// Settles credentials and roles of the transports, and notes them in their m-lines.
    ///
    /// - Parameter first: The gateway's credentials for the first transport. Those of further ones stay, or are drawn
    ///   for a new transport and for an ICE restart.
    mutating func settleTransports(
        answering offer: PeerDescription, first: ICECredentials, standing: NegotiatedLeg?,
        random: inout some RandomSource
    ) -> LegTransports? {
        let (numbers, carried) = (map(\.transport), map { !$0.isRejected })
        var transports: [TransportNumber: NegotiatedTransport] = [:]
        for number in Set(indices.filter { carried[$0] }.map { numbers[$0] }).sorted() {
            guard let tagged = offer.taggedLine(of: number, in: numbers, isCarried: { carried[$0] }),
                let remote = offer.media[tagged].transport.credentials
            else { continue }
            let known = standing?.transport(number)
            let isRestarted = known?.isRestarted(by: remote) == true
            let kept = isRestarted ? nil : known?.local
            let local = number == .first ? first : kept ?? ICECredentials(using: &random)
            let role = Self.role(answering: offer.media[tagged].transport, standing: isRestarted ? nil : known)
            transports[number] = NegotiatedTransport(
                local: local, remote: remote, remoteFingerprints: offer.media[tagged].transport.fingerprints, role: role
            )
            for index in indices where numbers[index] == number {
                self[index].credentials = number == .first ? nil : local
                self[index].setup = role == .client ? .active : .passive
            }
        }
        let settled = LegTransports(transports, standing: standing)
        for index in indices where !carried[index] {
            self[index].setup = settled?.first.role == .client ? .active : .passive
        }
        return settled
    }

    /// The gateway's role when it answers: that of the standing DTLS association if the offer leaves the choice and
    /// does not restart, else passive unless the peer is (RFC 5763 §5, RFC 8842 §5.3).
    private static func role(answering transport: PeerTransport, standing: NegotiatedTransport?) -> DTLSRole {
        switch transport.setup {
        case .passive: .client
        case .active, .holdconn, nil: .server
        case .actpass: standing?.remoteFingerprints == transport.fingerprints ? standing?.role ?? .server : .server
        }
    }
}

// MARK: - Answers of the peer

extension [LocalMedia] {
    /// The transports that an answer takes of those that were offered; its m-lines are put on them. What the peer moves
    /// out of a group that it has been in has none.
    ///
    /// - Parameter first: The gateway's credentials for the first transport.
    mutating func settleTransports(
        answeredBy answer: inout PeerDescription, first: ICECredentials, standing: NegotiatedLeg?
    ) -> LegTransports? {
        let media = answer.media
        let isCarried: (Int) -> Bool = { media[$0].refusal == nil }
        let numbers = answer.transportNumbers(agreed: standing?.media ?? [], isCarried: isCarried)
        var transports: [TransportNumber: NegotiatedTransport] = [:]
        for index in indices where isCarried(index) {
            let number = numbers[index]
            self[index].transport = number
            guard transports[number] == nil else { continue }
            guard let tagged = answer.taggedLine(of: number, in: numbers, isCarried: isCarried),
                let remote = media[tagged].transport.credentials,
                let local = self[tagged].credentials ?? (number == .first ? first : nil)
            else {
                answer.media[index].refusal = .outsideBundle
                continue
            }
            transports[number] = NegotiatedTransport(
                local: local, remote: remote, remoteFingerprints: media[tagged].transport.fingerprints,
                role: media[tagged].transport.setup == .passive ? .client : .server)
        }
        return LegTransports(transports, standing: standing)
    }
}
