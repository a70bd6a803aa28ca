import Primitives
import SDP
import Testing

/// Peers that do not bundle: an m-line, a transport (docs/adr/0007).
@Suite struct `Transports per m-line` {
    /// Audio and video with credentials of their own, and without a group.
    static let spread: PeerText = {
        var text = PeerText.audioAndVideo
        text.bundle = nil
        for index in text.lines.indices { text.give(index, ufrag: "peer\(index)") }
        return text
    }()

    /// A call whose caller does not bundle and whose callee does.
    static func call() throws -> TestCall {
        var call = TestCall()
        _ = try call.offer(spread.text)
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        return call
    }

    // MARK: Answers of the gateway

    @Test
    func `an offer without a group is answered with a transport for each m-line`() throws {
        var call = TestCall()
        let offered = try call.offer(Self.spread.text)
        #expect(offered.attributes.value(of: "group") == "BUNDLE 0 1", "the callee may bundle all the same")
        let answer = try call.answer(PeerText.audioAndVideo.answering.text)
        #expect(!answer.attributes.contains("group"))
        #expect(answer.media.map(\.port) == [7_001, 7_001])
        #expect(answer.media.map { $0.attributes.values(of: "candidate").count } == [2, 2])
        let leg = try #require(call.caller.negotiated)
        #expect(leg.media.map(\.transport) == [.first, TransportNumber(ofLine: 1)])
        let video = try #require(leg.transport(TransportNumber(ofLine: 1)))
        #expect(leg.transport.remote.ufrag == "peer0" && video.remote.ufrag == "peer1")
        #expect(leg.transport.local == testIdentity(1).credentials && video.local != leg.transport.local)
        #expect(
            answer.media.map { $0.attributes.value(of: "ice-ufrag") } == [leg.transport.local.ufrag, video.local.ufrag])
        #expect(
            answer.media.map { $0.attributes.value(of: "ice-pwd") } == [
                leg.transport.local.password.value, video.local.password.value,
            ])
        #expect(call.callee.negotiated?.furtherTransports.isEmpty == true)
        #expect(leg.principalTransport == .first)
    }

    @Test
    func `the same credentials in both m-lines are no group`() throws {
        var call = TestCall()
        var offer = PeerText.audioAndVideo
        offer.bundle = nil
        _ = try call.offer(offer.text)
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        let leg = try #require(call.caller.negotiated)
        #expect(leg.transport.remote == leg.furtherTransports.values.first?.remote)
        #expect(leg.transport.local != leg.furtherTransports.values.first?.local, "by which checks are told apart")
    }

    @Test
    func `each transport has the role that its m-line leaves`() throws {
        var call = TestCall()
        var offer = Self.spread
        offer.lines[1].setup = "passive"
        _ = try call.offer(offer.text)
        let answer = try call.answer(PeerText.audioAndVideo.answering.text)
        #expect(answer.media.map { $0.attributes.value(of: "setup") } == ["passive", "active"])
        #expect(call.caller.negotiated?.transport.role == .server)
        #expect(call.caller.negotiated?.furtherTransports.values.map(\.role) == [.client])
    }

    @Test
    func `credentials stay from offer to offer until ICE is restarted`() throws {
        var call = try Self.call()
        let before = try #require(call.caller.negotiated)
        _ = try call.offer(Self.spread.text)
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        #expect(call.caller.negotiated?.furtherTransports == before.furtherTransports)
        var restarted = Self.spread
        restarted.give(1, ufrag: "anew")
        _ = try call.offer(restarted.text)
        #expect(!call.caller.peerRestartsICE, "that is about the first transport")
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        let after = try #require(call.caller.negotiated)
        #expect(after.transport == before.transport)
        #expect(after.furtherTransports.values.map(\.remote.ufrag) == ["anew"])
        #expect(after.furtherTransports.values.map(\.local) != before.furtherTransports.values.map(\.local))
    }

    @Test
    func `a transport ends with its m-line, and one that comes back is another`() throws {
        var call = try Self.call()
        let before = try #require(call.caller.negotiated?.furtherTransports.values.first)
        var stopped = Self.spread
        stopped.lines[1].port = 0
        _ = try call.offer(stopped.text)
        _ = try call.answer(PeerText(lines: [.audio, .video], bundle: "0").answering.rejecting(1).text)
        #expect(call.caller.negotiated?.furtherTransports.isEmpty == true)
        _ = try call.offer(Self.spread.text)
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        #expect(call.caller.negotiated?.furtherTransports.values.first?.local != before.local)
    }

    @Test
    func `video stays on its transport when audio is rejected`() throws {
        var call = try Self.call()
        let before = try #require(call.caller.negotiated)
        var stopped = Self.spread
        stopped.lines[0].port = 0
        _ = try call.offer(stopped.text)
        _ = try call.answer(PeerText(lines: [.audio, .video], bundle: "1").answering.rejecting(0).text)
        let after = try #require(call.caller.negotiated)
        #expect(after.furtherTransports == before.furtherTransports && after.transport == before.transport)
        #expect(after.principalTransport == TransportNumber(ofLine: 1))
    }

    @Test
    func `rtcp-mux is required of every m-line`() throws {
        var offer = Self.spread
        offer.lines[1].attributes.removeFirst()
        #expect(try offer.read().media.map(\.refusal) == [nil, .noRTCPMultiplexing])
    }

    @Test
    func `feedback about transport-wide numbers is agreed on for one transport`() throws {
        let (uri, feedback) = ("extmap:3 " + HeaderExtension.transportSequenceNumber, "transport-cc")
        var offer = Self.spread
        for (index, format) in [(0, 111), (1, 96)] {
            offer.lines[index].attributes += [uri, "rtcp-fb:\(format) \(feedback)"]
        }
        var call = TestCall()
        _ = try call.offer(offer.text)
        let answer = try call.answer(PeerText.audioAndVideo.answering.text)
        #expect(answer.media.map { $0.attributes.values(of: "extmap").count } == [0, 1])
    }

    // MARK: Numbers

    @Test
    func `where two m-lines use one id the first meaning counts`() throws {
        var offer = Self.spread
        offer.lines[1].attributes += ["extmap:1 urn:x-video", "extmap:2 urn:x-other"]
        offer.lines[0].attributes += ["extmap:1 urn:x-audio", "extmap:3 urn:x-other"]
        #expect(try offer.read().media[1].extensions.isEmpty)
    }

    /// Audio has 96 and 111, video has them as well, for other things; 0 is on both.
    private static let ambiguous: PeerText = {
        var text = spread
        text.lines[0].formats = "111 96 0"
        text.lines[0].attributes.append("rtpmap:96 telephone-event/48000")
        text.lines[1].formats = "96 111 98"
        text.lines[1].attributes = [
            "rtcp-mux", "rtpmap:96 VP8/90000", "rtpmap:111 rtx/90000", "fmtp:111 apt=96", "rtpmap:98 VP9/90000",
        ]
        return text
    }()

    private static func formats(_ media: MediaDescription) -> [String] {
        media.attributes.values(of: "rtpmap") + media.attributes.values(of: "fmtp")
    }

    /// A bundling peer's answer: just what it was offered.
    private static func accepting(_ offer: SessionDescription) -> PeerText {
        var answer = PeerText.audioAndVideo.answering
        for (index, media) in offer.media.enumerated() {
            answer.lines[index].formats = media.formats.joined(separator: " ")
            answer.lines[index].attributes =
                ["rtcp-mux"]
                + media.attributes.filter { ["rtpmap", "fmtp"].contains($0.name) }.map {
                    "\($0.name):\($0.value ?? "")"
                }
        }
        return answer
    }

    /// On transports of their own they may (RFC 9143 §9.1 is about those that share one).
    @Test
    func `two m-lines may use one payload type for different things`() throws {
        var call = TestCall()
        for _ in 1...2 {
            let offered = try call.offer(Self.ambiguous.text)
            #expect(offered.media.map(\.formats) == [["111", "96", "0"], ["97", "99", "98"]])
            #expect(Self.formats(offered.media[1]) == ["97 VP8/90000", "99 rtx/90000", "98 VP9/90000", "99 apt=97"])
            let answer = try call.answer(Self.accepting(offered).text)
            #expect(answer.media.map(\.formats) == [["111", "96", "0"], ["96", "111", "98"]])
            #expect(Self.formats(answer.media[1]) == ["96 VP8/90000", "111 rtx/90000", "98 VP9/90000", "111 apt=96"])
            let (caller, callee) = (try #require(call.caller.agreement), try #require(call.callee.agreement))
            #expect(caller.media[1].codecs.map(\.payloadType.rawValue) == [96, 111, 98])
            #expect(caller.media[1].codecs[1].parameters == "apt=96")
            #expect(callee.media[1].codecs.map(\.payloadType.rawValue) == [97, 99, 98])
            #expect(
                caller.media[1].codecs.map { caller.media[1].numbering.inCall($0.payloadType) }
                    == callee.media[1].codecs.map(\.payloadType))
            #expect(caller.media[0].numbering.isIdentity && callee.media.allSatisfy(\.numbering.isIdentity))
        }
    }

    @Test
    func `a format keeps its number when the other side offers, and one that is the same on both m-lines has one`()
        throws
    {
        var call = TestCall()
        _ = try call.answer(Self.accepting(call.offer(Self.ambiguous.text)).text)
        // The callee offers what it was offered.
        var offer = PeerText.audioAndVideo
        offer.lines[1].formats = "97 99"
        offer.lines[1].attributes = ["rtcp-mux", "rtpmap:97 VP8/90000", "rtpmap:99 rtx/90000", "fmtp:99 apt=97"]
        let description = try call.callee.read(offer.text, as: .offer)
        try call.callee.receiveOffer(description)
        let offered = try call.caller.makeOffer(mirroring: description, policy: call.policy, random: &call.random)
        #expect(Self.formats(offered.media[1]) == ["96 VP8/90000", "111 rtx/90000", "111 apt=96"])

        var twoVideos = PeerText(lines: [.video, .video], bundle: nil)
        for index in twoVideos.lines.indices {
            twoVideos.lines[index].mid = "\(index)"
            twoVideos.give(index, ufrag: "peer\(index)")
        }
        let same = try TestCall().caller.read(twoVideos.text, as: .offer)
        #expect(
            same.media.map { $0.codecs.map(\.payloadType.rawValue) } == [[96, 97], [96, 97]] && same.numberings.isEmpty)
    }

    @Test
    func `a leg has so many transports and no more`() throws {
        var offer = PeerText(lines: (0..<10).map { PeerText.Line(mid: "\($0)") }, bundle: nil)
        #expect(
            try offer.read().media.map { $0.refusal == nil } == (0..<10).map { $0 < PeerDescription.maximumTransports })
        offer.bundle = "7 8 9"
        #expect(try offer.read().media.allSatisfy { $0.refusal == nil })
    }

    // MARK: Offers of the gateway

    @Test
    func `who does not bundle has sound after a first offer, and a transport for each m-line after the next`() throws {
        var call = TestCall()
        let first = try call.offer(PeerText.audioAndVideo.text)
        #expect(first.attributes.value(of: "group") == "BUNDLE 0 1")
        #expect(
            Set(first.media.map { $0.attributes.value(of: "ice-ufrag") }).count == 1, "Pion and webrtcbin refuse others"
        )
        _ = try call.answer(Self.spread.answering.text)
        #expect(call.callee.negotiated?.media.map(\.isRejected) == [false, true])

        let second = try call.offer(PeerText.audioAndVideo.text)
        let fragments = second.media.map { $0.attributes.value(of: "ice-ufrag") }
        #expect(Set(fragments).count == 2)
        _ = try call.answer(Self.spread.answering.text)
        let leg = try #require(call.callee.negotiated)
        #expect(leg.media.map(\.transport) == [.first, TransportNumber(ofLine: 1)])
        #expect([leg.transport.local.ufrag, leg.furtherTransports.values.first?.local.ufrag] == fragments)
        #expect(leg.furtherTransports.values.map(\.remote.ufrag) == ["peer1"])
    }

    @Test
    func `later offers go by what the peer has shown`() throws {
        var call = TestCall()
        _ = try call.offer(PeerText.audioAndVideo.text)
        var other = call
        _ = try call.answer(PeerText.audioAndVideo.answering.text)
        let bundled = try call.offer(PeerText.audioAndVideo.text)
        #expect(Set(bundled.media.map { $0.attributes.value(of: "ice-ufrag") }) == ["gwUfrag2"])
        #expect(bundled.media.map { $0.attributes.values(of: "candidate").count } == [2, 0])

        _ = try other.answer(Self.spread.answering.text)
        _ = try other.offer(PeerText.audioAndVideo.text)
        _ = try other.answer(Self.spread.answering.text)
        let agreed = try #require(other.callee.negotiated)
        let spread = try other.offer(PeerText.audioAndVideo.text)
        #expect(!spread.attributes.contains("group"))
        #expect(spread.media[1].attributes.value(of: "ice-ufrag") == agreed.furtherTransports.values.first?.local.ufrag)
        _ = try other.answer(Self.spread.answering.text)
        #expect(other.callee.negotiated == agreed)
    }

    @Test(arguments: [true, false])
    func `video that is added later has a transport of its own unless the peer bundles`(_ bundles: Bool) throws {
        var call = TestCall()
        _ = try call.offer(PeerText().text)
        var answer = PeerText().answering
        if !bundles { answer.bundle = nil }
        _ = try call.answer(answer.text)
        let offered = try call.offer(PeerText.audioAndVideo.text)
        #expect(offered.attributes.value(of: "group") == "BUNDLE 0 1")
        #expect(Set(offered.media.map { $0.attributes.value(of: "ice-ufrag") }).count == (bundles ? 1 : 2))
    }

    @Test
    func `a peer that bundles cannot move an m-line out`() throws {
        var call = TestCall()
        for _ in 0..<2 {
            _ = try call.offer(PeerText.audioAndVideo.text)
            _ = try call.answer(PeerText.audioAndVideo.answering.text)
        }
        _ = try call.offer(PeerText.audioAndVideo.text)
        let moved = try call.callee.receiveAnswer(call.callee.read(Self.spread.answering.text, as: .answer))
        #expect(moved.media.map(\.refusal) == [nil, .outsideBundle])
    }

    @Test
    func `a peer that takes the second m-line alone takes its credentials`() throws {
        var call = TestCall()
        let offered = try call.offer(PeerText.audioAndVideo.text)
        _ = try call.answer(PeerText(lines: [.audio, .video], bundle: "1").answering.rejecting(0).text)
        let leg = try #require(call.callee.negotiated)
        #expect(leg.media[1].transport == .first && leg.furtherTransports.isEmpty)
        #expect(leg.transport.local.ufrag == offered.media[1].attributes.value(of: "ice-ufrag"))
        #expect(call.callee.identity.credentials == leg.transport.local)
    }
}

extension PeerText {
    fileprivate mutating func give(_ index: Int, ufrag: String) {
        lines[index].attributes.removeAll { $0.hasPrefix("ice-") }
        lines[index].attributes += ["ice-ufrag:\(ufrag)", "ice-pwd:passwordOfTheMLine\(ufrag)"]
    }

    fileprivate func rejecting(_ index: Int) -> PeerText {
        var rejecting = self
        rejecting.lines[index].port = 0
        return rejecting
    }
}
