import CallControl
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Calls whose media the gateway terminates.
struct AnchoredCallTests {
    private let offer: String
    private let answer: String
    private var rig = CallRig(callee: [CallRig.silent], isAnchored: true)

    init() throws {
        offer = try Fixtures.text("sdp/chromium-156/offer-audio-video.sdp")
        answer = try Fixtures.text("sdp/chromium-156/answer-to-chromium-offer.sdp")
    }

    private func description(_ actions: [CallAction], _ type: Notification.EventType) throws -> SessionDescription {
        let sdp = actions.descriptions(type)
        return try SessionDescription(parsing: #require(sdp.first))
    }

    @Test mutating func `the callee gets the gateway's offer, after checks to it are expected`() throws {
        let actions = try rig.start(offer)
        #expect(actions.traces == ["prepare callee", "b1 call"])
        #expect(actions.contains(.prepareMedia(.callee, CallRig.identity("callee").credentials)))
        let made = try PeerDescription(reading: description(actions, .call), as: .offer)
        #expect(made.isLite)
        #expect(made.media.map(\.kind) == [.audio, .video])
        #expect(made.transportMedia?.transport.credentials?.ufrag == "callee")
    }

    @Test mutating func `the caller gets the gateway's answer, and both legs are connected first`() throws {
        _ = try rig.start(offer)
        let actions = try rig.answer(answer)
        #expect(
            actions.traces == [
                "prepare caller", "route caller hears callee", "route callee hears caller", "connect caller",
                "connect callee", "a1 respondCallUpdate", "b1 callCancel", "answered",
            ])
        let made = try PeerDescription(reading: description(actions, .respondCallUpdate), as: .answer)
        #expect(made.transportMedia?.transport.credentials?.ufrag == "caller")
        for case .connectMedia(let leg, let negotiated) in actions {
            #expect(negotiated.transport.local.ufrag == (leg == .caller ? "caller" : "callee"))
            #expect(negotiated.media.count == 2)
        }
    }

    @Test mutating func `every end releases the media first`() throws {
        _ = try rig.start(offer)
        var unanswered = rig
        #expect(unanswered.take(.reject(.callee)) == ["release", "a1 callEnd 603 Declined", "b1 callCancel", "ended"])
        _ = try rig.answer(answer)
        #expect(rig.take(.end(.caller, nil)) == ["release", "b1 callEnd", "ended"])
    }

    @Test(arguments: [
        ("not sdp", "malformedDescription"),
        ("v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n", "unsupportedDescription"),
        (
            "v=0\r\no=- 1 1 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\nm=audio 9 RTP/AVP 0\r\nc=IN IP4 0.0.0.0\r\n",
            "unsupportedDescription"
        ),
    ])
    mutating func `an offer that cannot be used is refused with a reason`(_ text: String, _ kind: String) throws {
        do throws(CallError) {
            _ = try rig.start(text)
            Issue.record("this offer cannot be used")
        } catch {
            #expect(error.trace == kind)
            #expect(error.sentence.hasPrefix("The SDP cannot be "))
        }
        #expect(rig.call.state == .initial)
    }

    @Test mutating func `an answer that cannot be used is refused, and the call keeps ringing`() throws {
        _ = try rig.start(offer)
        let before = rig.call
        for text in ["not sdp", offer] {
            #expect(throws: CallError.self) { try rig.answer(text) }
            #expect(rig.call == before)
        }
        #expect(try rig.answer(answer).traces.contains("answered"))
    }

    @Test mutating func `an answer without the picture makes it a call without`() throws {
        _ = try rig.start(offer)
        let actions = try rig.answer(Fixtures.text("sdp/chromium-156/answer-audio.sdp"))
        let made = try PeerDescription(reading: description(actions, .respondCallUpdate), as: .answer)
        #expect(made.media.map(\.isRejected) == [false, true])
    }

    @Test mutating func `media that is not there in time ends the call`() throws {
        _ = try rig.start(offer)
        _ = rig.take(.wait(.seconds(10)))
        _ = try rig.answer(answer)
        #expect(rig.call.nextDeadline == Deadline(rig.clock.now + .seconds(60), .mediaSetup))
        _ = rig.take(.media(.caller, .flowing))
        _ = rig.take(.media(.callee, .checked))
        #expect(
            rig.take(.wait(.seconds(60))) == [
                "release", "a1 callEnd 408 media path could not be established",
                "b1 callEnd 408 media path could not be established", "ended",
            ])
        guard case .ended(let record) = rig.call.state else {
            Issue.record("not ended")
            return
        }
        #expect(record.cause == .mediaFailed(.callee, .setupTimeout))
    }

    @Test mutating func `with keys on both legs the call lasts`() throws {
        _ = try rig.start(offer)
        // A peer may check its path before its answer has arrived.
        _ = rig.take(.media(.callee, .checked))
        _ = try rig.answer(answer)
        _ = rig.take(.media(.callee, .secured))
        _ = rig.take(.media(.caller, .checked))
        _ = rig.take(.media(.caller, .secured))
        _ = rig.take(.media(.caller, .checked))
        #expect(rig.call.nextDeadline == nil)
        #expect(rig.take(.wait(.seconds(86_400))) == [])
    }
}
