import Primitives
import SDP
import TestSupport
import Testing

struct LegNegotiationTests {
    enum Step: String, Sendable {
        case makeOffer, receiveOffer, makeAnswer, receiveAnswer, rollback
    }

    static let steps: [([Step], LegNegotiation.Phase)] = [
        ([], .idle),
        ([.makeOffer], .localOffer),
        ([.makeOffer, .receiveAnswer], .stable),
        ([.makeOffer, .rollback], .idle),
        ([.makeOffer, .receiveAnswer, .makeOffer], .localOffer),
        ([.makeOffer, .receiveAnswer, .makeOffer, .rollback], .stable),
        ([.makeOffer, .receiveAnswer, .receiveOffer], .remoteOffer),
        ([.makeOffer, .receiveAnswer, .receiveOffer, .makeAnswer], .stable),
        ([.receiveOffer], .remoteOffer),
        ([.receiveOffer, .makeAnswer], .stable),
        ([.receiveOffer, .rollback], .idle),
        ([.receiveOffer, .makeAnswer, .makeOffer], .localOffer),
        ([.receiveOffer, .makeAnswer, .makeOffer, .receiveAnswer], .stable),
        ([.receiveOffer, .makeAnswer, .receiveOffer, .rollback], .stable),
    ]

    @Test(arguments: steps)
    func `steps lead to a phase`(_ steps: [Step], _ phase: LegNegotiation.Phase) throws {
        var leg = LegNegotiation(identity: testIdentity())
        for step in steps { try perform(step, on: &leg) }
        #expect(leg.phase == phase)
        #expect((leg.negotiated == nil) == !steps.contains { $0 == .makeAnswer || $0 == .receiveAnswer })
    }

    static let wrongSteps: [([Step], [Step])] = [
        ([], [.makeAnswer, .receiveAnswer, .rollback]),
        ([.makeOffer], [.makeOffer, .receiveOffer, .makeAnswer]),
        ([.receiveOffer], [.makeOffer, .receiveOffer, .receiveAnswer]),
        ([.receiveOffer, .makeAnswer], [.makeAnswer, .receiveAnswer, .rollback]),
    ]

    @Test(arguments: wrongSteps)
    func `a step at the wrong time is refused and changes nothing`(_ steps: [Step], _ wrong: [Step]) throws {
        var leg = LegNegotiation(identity: testIdentity())
        for step in steps { try perform(step, on: &leg) }
        let before = leg
        for step in wrong {
            #expect(throws: SDPError.wrongState(before.phase), "\(step)") { try perform(step, on: &leg) }
            #expect(leg == before)
        }
    }

    private func perform(_ step: Step, on leg: inout LegNegotiation) throws {
        var random = SeededRandomSource(seed: 1)
        switch step {
        case .makeOffer: _ = try leg.makeOffer(mirroring: PeerText().read(), policy: .relay, random: &random)
        case .receiveOffer: try leg.receiveOffer(PeerText().read())
        case .makeAnswer:
            _ = try leg.makeAnswer(mirroring: PeerText().answering.read(as: .answer), policy: .relay, random: &random)
        case .receiveAnswer: try leg.receiveAnswer(PeerText().answering.read(as: .answer))
        case .rollback: try leg.rollback()
        }
    }

    // MARK: The session

    @Test
    func `the session id stays and the version counts up by one`() throws {
        var call = TestCall()
        var origins: [Origin] = []
        for _ in 0..<3 {
            origins.append(try call.offer(PeerText().text).origin)
            origins.append(try call.answer(PeerText().answering.text).origin)
        }
        #expect(origins.map(\.sessionID) == [1_002, 1_001, 1_002, 1_001, 1_002, 1_001])
        #expect(origins.map(\.version) == [1, 1, 2, 2, 3, 3])
    }

    @Test
    func `sources, transport and agreement survive a re-offer`() throws {
        var call = TestCall()
        let first = try call.offer(PeerText.audioAndVideo.text)
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        let agreed = call.callee.negotiated
        let second = try call.offer(PeerText.audioAndVideo.text)
        #expect(second.media[1].attributes.values(of: "ssrc") == first.media[1].attributes.values(of: "ssrc"))
        #expect(second.attributes == first.attributes)
        #expect(call.callee.negotiated == agreed, "a pending offer does not touch what is agreed")
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        #expect(call.callee.negotiated == agreed)
    }

    @Test
    func `m-lines share one address from the first offer on, since old agents take port 0 for a rejection`() throws {
        var call = TestCall()
        for _ in 0..<2 {
            let offered = try call.offer(PeerText.audioAndVideo.text)
            #expect(offered.media.map(\.port) == [7_002, 7_002])
            #expect(offered.media.flatMap(\.connections).map(\.address) == ["192.0.2.7", "192.0.2.7"])
            #expect(!offered.serialized.contains("bundle-only"))
            let counts = offered.media.map { $0.attributes.values(of: "candidate").count }
            #expect(counts == [2, 0])
            _ = try call.answer(PeerText.audioAndVideo.answering.text)
        }
    }

    /// RFC 8829 §5.2.1, §5.3.1. Some agents look for them in m-lines only (GStreamer, Pion); others need them at
    /// session level for the m-lines that have none (aiortc).
    @Test
    func `every m-line that is carried has credentials, fingerprint and setup, in offers and answers`() throws {
        var call = TestCall()
        let names = ["ice-ufrag", "ice-pwd", "fingerprint", "setup"]
        func transport(_ attributes: [Attribute]) -> [String?] { names.map { attributes.value(of: $0) } }
        let first = try call.offer(PeerText.audioAndVideo.text)
        #expect(first.media.map { transport($0.attributes) }.allSatisfy { !$0.contains(nil) })
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        let offered = try call.offer(PeerText.audioAndVideo.text)
        let own: [String?] = ["gwUfrag2", "gatewayPasswordOfLeg00002", testIdentity(2).fingerprint.value, "actpass"]
        #expect(([offered.attributes] + offered.media.map(\.attributes)).map(transport) == [own, own, own])

        var answer = PeerText.audioAndVideo.answering
        (answer.lines[1].port, answer.bundle) = (0, "0")
        let answered = try call.answer(answer.text)
        let callers: [String?] = [
            "gwUfrag1", "gatewayPasswordOfLeg00001", testIdentity(1).fingerprint.value, "passive",
        ]
        #expect(transport(answered.attributes) == callers && transport(answered.media[0].attributes) == callers)
        #expect(
            transport(answered.media[1].attributes) == [nil, nil, nil, "passive"], "a rejected m-line has no transport")
    }

    @Test
    func `the callee may offer, too`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText().text)
        _ = try call.answer(PeerText().answering.text)
        let offer = try PeerText.audioAndVideo.read()
        try call.callee.receiveOffer(offer)
        let toCaller = try call.caller.makeOffer(mirroring: offer, policy: .relay, random: &call.random)
        #expect(toCaller.origin.version == 2)
        #expect(toCaller.media.map(\.port) == [7_001, 7_001])
        let answer = try PeerText.audioAndVideo.answering.read(as: .answer)
        try call.caller.receiveAnswer(answer)
        let toCallee = try call.callee.makeAnswer(mirroring: answer, policy: .relay, random: &call.random)
        #expect(toCallee.media.map(\.port) == [7_002, 7_002])
        #expect(call.caller.negotiated?.media.map(\.direction) == [.sendReceive, .sendReceive])
    }

    @Test
    func `an m-line that one side forgets stays, rejected`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText.audioAndVideo.text)
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        let offer = try call.callee.makeOffer(mirroring: PeerText().read(), policy: .relay, random: &call.random)
        #expect(offer.media.map(\.port) == [7_002, 0])
        #expect(
            offer.media[1].attributes == [
                Attribute("mid", "1"), Attribute("inactive"), Attribute("setup", "actpass"), Attribute("rtcp-mux"),
            ])
    }

    static let brokenOffers: [(PeerText, SDPError)] = [
        (PeerText(), .offerMismatch(media: nil, .fewerMedia(count: 1, agreed: 2))),
        (PeerText(lines: [.video, .audio], bundle: "1 0"), .offerMismatch(media: 0, .changedKind)),
        (
            PeerText(lines: [PeerText.Line(mid: "x"), .video], bundle: "x 1"),
            .offerMismatch(media: 0, .changedMid)
        ),
    ]

    @Test(arguments: brokenOffers.indices)
    func `a re-offer must continue the session`(_ index: Int) throws {
        var call = TestCall()
        _ = try call.offer(PeerText.audioAndVideo.text)
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        let before = call.caller
        #expect(throws: Self.brokenOffers[index].1) { try call.offer(Self.brokenOffers[index].0.text) }
        #expect(call.caller == before)
    }

    @Test
    func `m-lines of an offer that came to nothing leave no trace`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText().text)
        _ = try call.answer(PeerText().answering.text)
        _ = try call.offer(PeerText.audioAndVideo.text)
        try call.caller.rollback()
        try call.callee.rollback()
        let offered = try call.offer(PeerText().text)
        #expect(offered.media.count == 1)
        #expect(offered.origin.version == 3)
        #expect(try call.answer(PeerText().answering.text).media.count == 1)
    }

    @Test
    func `a rejected m-line may be used again for something else`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText.audioAndVideo.text)
        var answer = PeerText.audioAndVideo.answering
        (answer.lines[1].port, answer.bundle) = (0, "0")
        let first = try call.answer(answer.text)
        #expect(first.media.map(\.port) == [7_001, 0])
        var recycled = PeerText.audioAndVideo
        (recycled.lines[1].mid, recycled.bundle) = ("v2", "0 v2")
        let second = try call.offer(recycled.text)
        #expect(second.media[1].attributes.value(of: "mid") == "v2")
        #expect(second.media[1].port == 7_002)
    }

    // MARK: Transport

    @Test(
        arguments: [
            ("actpass", "passive", .server), ("active", "passive", .server), ("passive", "active", .client),
            (nil, "passive", .server),
        ] as [(String?, String, DTLSRole)])
    func `the offer's setup decides the answer's`(_ offered: String?, _ answered: String, _ role: DTLSRole) throws {
        var call = TestCall()
        var offer = PeerText()
        offer.lines[0].setup = offered
        #expect(try call.offer(offer.text).attributes.value(of: "setup") == "actpass")
        #expect(try call.answer(PeerText().answering.text).attributes.value(of: "setup") == answered)
        #expect(call.caller.negotiated?.transport.role == role)
    }

    @Test(arguments: [("active", .server), ("passive", .client)] as [(String, DTLSRole)])
    func `the answer's setup decides who sends the hello`(_ setup: String, _ role: DTLSRole) throws {
        var call = TestCall()
        _ = try call.offer(PeerText().text)
        var answer = PeerText().answering
        answer.lines[0].setup = setup
        _ = try call.answer(answer.text)
        #expect(call.callee.negotiated?.transport.role == role)
    }

    @Test
    func `the DTLS role stays in an answer to a re-offer`() throws {
        var call = TestCall()
        var offer = PeerText()
        offer.lines[0].setup = "passive"
        _ = try call.offer(offer.text)
        _ = try call.answer(PeerText().answering.text)
        _ = try call.offer(PeerText().text)
        #expect(try call.answer(PeerText().answering.text).attributes.value(of: "setup") == "active")
        #expect(call.caller.negotiated?.transport.role == .client)
    }

    @Test(arguments: [(false, "active", .client), (true, "passive", .server)] as [(Bool, String, DTLSRole)])
    func `the DTLS role stays in an ICE restart unless the certificate is another one`(
        _ isAnother: Bool, _ answered: String, _ role: DTLSRole
    ) throws {
        var call = TestCall()
        var offer = PeerText()
        offer.lines[0].setup = "passive"
        _ = try call.offer(offer.text)
        _ = try call.answer(PeerText().answering.text)
        var restart = PeerText()
        restart.session[0] = "ice-ufrag:anew"
        restart.session[1] = "ice-pwd:anotherPasswordOfThePeer"
        if isAnother { restart.session[2] = "fingerprint:sha-256 " + PeerText.digest.replacing("AB", with: "CD") }
        _ = try call.offer(restart.text)
        call.caller.restartICE(with: ICECredentials(ufrag: "fresh", password: "freshPasswordOfTheGateway"))
        #expect(try call.answer(PeerText().answering.text).attributes.value(of: "setup") == answered)
        #expect(call.caller.negotiated?.transport.role == role)
    }

    @Test
    func `an ICE restart of the peer needs new credentials of the gateway`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText().text)
        _ = try call.answer(PeerText().answering.text)
        var restart = PeerText()
        restart.session[0] = "ice-ufrag:anew"
        restart.session[1] = "ice-pwd:anotherPasswordOfThePeer"
        _ = try call.offer(restart.text)
        #expect(call.caller.peerRestartsICE)
        #expect(throws: SDPError.restartNeedsCredentials) { try call.answer(PeerText().answering.text) }

        let fresh = ICECredentials(ufrag: "fresh", password: "freshPasswordOfTheGateway")
        call.caller.restartICE(with: fresh)
        let answer = try call.caller.makeAnswer(
            mirroring: PeerText().answering.read(as: .answer), policy: .relay, random: &call.random)
        #expect(answer.attributes.value(of: "ice-ufrag") == "fresh")
        #expect(call.caller.negotiated?.transport.local == fresh)
        #expect(call.caller.negotiated?.transport.remote.ufrag == "anew")
        #expect(!call.caller.peerRestartsICE)
    }

    @Test
    func `a rollback takes a restart back`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText().text)
        _ = try call.answer(PeerText().answering.text)
        call.callee.restartICE(with: ICECredentials(ufrag: "fresh", password: "freshPasswordOfTheGateway"))
        _ = try call.offer(PeerText().text)
        try call.callee.rollback()
        #expect(call.callee.identity == testIdentity(2))
    }

    @Test
    func `an ICE-lite peer is refused in either role`() throws {
        var lite = PeerText()
        lite.session.append("ice-lite")
        var call = TestCall()
        #expect(throws: SDPError.unsupportedLitePeer) { try call.offer(lite.text) }
        _ = try call.offer(PeerText().text)
        #expect(throws: SDPError.unsupportedLitePeer) { try call.answer(lite.answering.text) }
    }

    @Test
    func `the default destination is the first IPv4 candidate`() throws {
        var call = TestCall()
        let media = try call.offer(PeerText().text).media[0]
        #expect(media.connections == [Connection(addressType: "IP4", address: "192.0.2.7")])
        #expect(media.port == 7_002)
    }

    @Test(arguments: [
        (["127.0.0.1", "192.0.2.7"], "192.0.2.7"), (["::1", "127.0.0.1", "2001:db8::7"], "2001:db8::7"),
        (["::1", "127.0.0.1"], "127.0.0.1"),
        (["2001:db8::7", "192.0.2.7"], "192.0.2.7"),
    ])
    func `the default destination is one that other machines reach, where there is one`(
        _ addresses: [String], _ chosen: String
    ) throws {
        let candidates = addresses.enumerated().map {
            "\($0 + 1) 1 udp \(2_130_706_431 - 256 * $0) \($1) 7000 typ host"
        }
        let identity = LegIdentity(
            sessionID: 1, canonicalName: "name", streamID: "stream", credentials: testIdentity().credentials,
            fingerprint: testIdentity().fingerprint, candidates: candidates)
        var leg = LegNegotiation(identity: identity)
        var random = SeededRandomSource(seed: 1)
        let offer = try leg.makeOffer(mirroring: PeerText().read(), policy: .relay, random: &random)
        #expect(offer.media[0].connections.map(\.address) == [chosen])
    }

    @Test
    func `no source is one of the peer's or the gateway's others`() throws {
        var call = TestCall()
        var twin = SeededRandomSource(seed: 20_260_101)
        let (first, second) = (twin.nextUInt32(), twin.nextUInt32())
        var offer = PeerText.audioAndVideo
        offer.lines[0].attributes += ["ssrc:\(first) cname:x", "ssrc:\(second) cname:x"]
        _ = try call.offer(offer.text)
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        for leg in [call.caller, call.callee] {
            let drawn = try #require(leg.negotiated).media.flatMap {
                [$0.localSSRC, $0.localRetransmissionSSRC].compactMap(\.self)
            }
            #expect(drawn.count == 3 && Set(drawn).count == 3)
            #expect(!drawn.contains(SSRC(first)) && !drawn.contains(SSRC(second)))
        }
    }
}
