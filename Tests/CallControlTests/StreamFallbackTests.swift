import CallControl
import CallSupport
import Primitives
import Testing

/// When a call whose program is given up has what is configured for calls about which nobody decides.
struct StreamFallbackTests {
    private let list = PlayList(file: "closed.wav")

    private func address() throws -> UserAddress { try #require(UserAddress(parsing: "robot@example.com")) }

    /// A leg as its call is seen.
    private func seen(_ leg: ApplicationLeg, _ state: LegState, hearsEarly: Bool = false) -> ApplicationLeg {
        var leg = leg
        leg.see(
            CallSession(
                session: "A", progress: .ringing, state: state, hearsEarly: hearsEarly,
                isIncoming: leg.view.direction == .incoming, isAnchored: true, isConference: false, startedAt: 1,
                members: [], startParameters: [], answerParameters: [], timeline: []))
        return leg
    }

    private func incoming() throws -> ApplicationLeg {
        ApplicationLeg(
            called: try #require(ApplicationIdentity("robot#1")), at: try address(), as: "A",
            at: LegAddress(call: CallID(7), leg: .callee), time: 1)
    }

    /// A call that the application has started, and that hears something while a device rings.
    private func outgoing() throws -> ApplicationLeg {
        let robot = RegisteredApplication(
            identity: try #require(ApplicationIdentity("robot#1")), displayName: "Robot",
            addresses: [ApplicationAddress(try address())])
        let leg = ApplicationLeg(
            starting: try ApplicationCallRequest(to: try address(), from: try address(), earlyMedia: true), by: robot,
            as: "A", at: LegAddress(call: CallID(7), leg: .caller), time: 1)
        return seen(leg, .ringing, hearsEarly: true)
    }

    @Test func `a caller that waits for an answer is treated as if nobody had decided`() throws {
        var leg = seen(try incoming(), .sessionProgress)
        for fallback in [ApplicationFallback.announce(list), .reject(.busy), .forward(try address())] {
            #expect(leg.giveUpProgram(fallback) == .likeUndecided)
        }
        #expect(leg.established(time: 2).isEmpty)
        #expect(leg.giveUpProgram(.announce(list)) == .now, "it talks")
    }

    @Test func `whatever needs an ear waits until the callee has answered`() throws {
        let echo = ApplicationFallback.answer(.echo(delay: .seconds(1)))
        for fallback in [ApplicationFallback.announce(list), .forward(try address()), echo] {
            var leg = try outgoing()
            #expect(leg.giveUpProgram(fallback) == .withAnswer)
            #expect(leg.established(time: 2) == [.fallBackOfStream])
            #expect(leg.giveUpProgram(fallback) == .now)
            #expect(leg.established(time: 2).isEmpty, "once")
        }
    }

    @Test func `a callee is not rung any longer for a call that is refused`() throws {
        var leg = try outgoing()
        #expect(leg.giveUpProgram(.reject(.busy)) == .now)
        #expect(leg.established(time: 2).isEmpty)
    }

    @Test func `another stream takes the place of a fallback that waits once the call has taken it`() throws {
        var leg = try outgoing()
        #expect(leg.giveUpProgram(.announce(list)) == .withAnswer)
        leg.connect(StreamID(1))
        _ = leg.open(StreamID(2))
        #expect(leg.awaitsFallback)
        leg.dropFallback()
        leg.endStream()
        #expect(!leg.awaitsFallback && leg.established(time: 2).isEmpty)
    }

    @Test func `a stream that does not come about leaves the fallback that waits`() throws {
        var dialled = try outgoing()
        #expect(dialled.giveUpProgram(.announce(list)) == .withAnswer)
        dialled.connect(StreamID(1))
        dialled.lostStream()
        dialled.endStream()
        #expect(dialled.established(time: 2) == [.fallBackOfStream])
        var refused = try outgoing()
        #expect(refused.giveUpProgram(.announce(list)) == .withAnswer)
        _ = refused.open(StreamID(1))
        refused.close(StreamID(1))
        #expect(refused.established(time: 2) == [.fallBackOfStream])
    }

    @Test(arguments: [LegState.inCall, .onHold])
    func `a call that was answered waits for nothing`(_ state: LegState) throws {
        for leg in [try incoming(), try outgoing()] {
            var leg = seen(leg, state)
            #expect(leg.giveUpProgram(.announce(list)) == .now)
        }
    }
}
