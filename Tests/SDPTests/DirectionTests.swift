import SDP
import Testing

struct DirectionTests {
    /// RFC 3264 §6.1: what may answer what.
    @Test(
        arguments: [
            (.sendReceive, [.sendReceive, .sendOnly, .receiveOnly, .inactive]), (.sendOnly, [.receiveOnly, .inactive]),
            (.receiveOnly, [.sendOnly, .inactive]), (.inactive, [.inactive]),
        ] as [(MediaDirection, Set<MediaDirection>)])
    func `an answer takes what the offer leaves`(_ offered: MediaDirection, _ answers: Set<MediaDirection>) {
        #expect(Set(MediaDirection.allCases.filter { $0.mayAnswer(offered) }) == answers)
    }

    @Test(arguments: MediaDirection.allCases, MediaDirection.allCases)
    func `narrowing and reversing keep their laws`(_ a: MediaDirection, _ b: MediaDirection) {
        #expect(a.reversed.reversed == a)
        #expect(a.narrowed(to: b) == b.narrowed(to: a))
        #expect(a.narrowed(to: a) == a)
        #expect(a.narrowed(to: b).reversed == a.reversed.narrowed(to: b.reversed))
        #expect(a.narrowed(to: .inactive) == .inactive)
    }

    @Test(arguments: MediaDirection.allCases, MediaDirection.allCases)
    func `directions pass through the gateway and fit each other on both legs`(
        _ offered: MediaDirection, _ answered: MediaDirection
    ) throws {
        var call = TestCall()
        var offer = PeerText()
        offer.lines[0].direction = offered.rawValue
        let toCallee = try call.offer(offer.text)
        #expect(toCallee.media[0].attributes.contains(offered.rawValue), "the gateway offers on the caller's behalf")

        var answer = offer.answering
        answer.lines[0].direction = answered.rawValue
        guard answered.mayAnswer(offered) else {
            #expect(throws: SDPError.self) { try call.answer(answer.text) }
            #expect(call.callee.phase == .localOffer)
            return
        }
        let toCaller = try call.answer(answer.text)
        #expect(toCaller.media[0].attributes.contains(answered.rawValue), "the gateway answers on the callee's behalf")
        #expect(call.caller.negotiated?.media[0].direction == answered)
        #expect(call.callee.negotiated?.media[0].direction == answered.reversed)
    }

    @Test(arguments: MediaDirection.allCases)
    func `sources are announced only where the gateway sends`(_ direction: MediaDirection) throws {
        var call = TestCall()
        var offer = PeerText()
        offer.lines[0].direction = direction.rawValue
        let media = try call.offer(offer.text).media[0]
        #expect(media.attributes.contains("ssrc") == direction.sends)
        #expect(media.attributes.contains("msid") == direction.sends)
    }
}
