import Primitives

/// The transports of a leg that an offer/answer exchange agreed on (docs/adr/0007).
struct LegTransports {
    var first: NegotiatedTransport
    var further: [TransportNumber: NegotiatedTransport]

    /// Sorts the transports; `nil` if there is none at all.
    ///
    /// - Parameters:
    ///   - transports: The transports by number.
    ///   - standing: What was agreed before. A first transport that lost its last m-line stays as it was.
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

    /// Whether the peer does not bundle: its m-lines are on more than one transport.
    var isSpread: Bool { !furtherTransports.isEmpty }
}

extension NegotiatedTransport {
    /// Whether the peer's offered credentials restart ICE: ufrag and password are both new (RFC 8839 §4.4.1.1.1).
    func isRestarted(by offered: ICECredentials) -> Bool {
        offered.ufrag != remote.ufrag && offered.password != remote.password
    }
}

// MARK: - Offers of the gateway

extension [LocalMedia] {
    /// Gives own credentials to every m-line of an offer that may not be bundled.
    ///
    /// An m-line that is already on a transport keeps it. A new m-line gets own credentials unless the peer bundles. A
    /// first offer has the leg's credentials on all m-lines, because Pion 3.1 and webrtcbin 1.22 refuse an offer whose
    /// m-lines have different ones.
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

    /// The BUNDLE groups of an offer: one group of all m-lines, or the peer's own groups if it does not bundle.
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
    /// Puts each m-line of an answer on the transport that the offer gives it.
    mutating func spread(answering offer: PeerDescription, standing: NegotiatedLeg?) {
        let carried = map { !$0.isRejected }
        for (index, number) in offer.transportNumbers(agreed: standing?.media ?? [], isCarried: { carried[$0] })
            .enumerated()
        {
            self[index].transport = number
        }
    }

    /// Settles credentials and DTLS roles of the transports, and writes them into the m-lines.
    ///
    /// - Parameters:
    ///   - offer: The peer's offer.
    ///   - first: The gateway's credentials for the first transport. Those of further transports stay, except that new
    ///     ones are drawn for a new transport and for an ICE restart.
    ///   - standing: What was agreed before.
    ///   - random: The source of new credentials.
    /// - Returns: `nil` if no m-line is carried.
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
            let role = Self.role(answering: offer.media[tagged].transport, standing: known)
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

    /// The gateway's DTLS role when it answers (RFC 5763 §5, RFC 8842 §5.3).
    ///
    /// If the offer leaves the choice and has the agreed fingerprints, the DTLS association goes on, also through an
    /// ICE restart, and its role stays (RFC 8829 §5.3.1). libwebrtc refuses an answer with the other role. Otherwise,
    /// the gateway is passive unless the peer is.
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
    /// Takes the offered transports that the answer uses, and puts the m-lines on them. An m-line that the peer moves
    /// out of its former group has no transport; it is refused as `.outsideBundle`.
    ///
    /// - Parameters:
    ///   - answer: The peer's answer. Refusals are added to it.
    ///   - first: The gateway's credentials for the first transport.
    ///   - standing: What was agreed before.
    /// - Returns: `nil` if no m-line is carried.
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
