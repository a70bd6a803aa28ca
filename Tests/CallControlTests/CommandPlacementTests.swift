import CallControl
import CallSupport
import SDP
import Testing

/// A request that one call decides, and the call that has the leg by then.
struct CommandPlacementTests {
    private static let alice = UserAddress(parsing: "alice@example.com")!
    private static let before = LegAddress(call: CallID(2), leg: .caller)
    private static let after = LegAddress(call: CallID(3), leg: LegID(5))
    private static let device = Device("a1")

    /// A placement whose call was given the command.
    private func commanded(_ command: CallCommand, outlivesCall: Bool = false) -> CommandPlacement {
        var placement = CommandPlacement(command, in: "A", by: Self.alice, from: "a1", outlivesCall: outlivesCall)
        #expect(placement.start() == [.ask(.user(Self.alice, .identify("A", device: "a1")))])
        #expect(
            placement.handle(.requester(Self.before, Self.device)) == [
                .ask(.call(Self.before.call, .command(command, .caller, from: Self.device)))
            ])
        return placement
    }

    @Test(arguments: [.pending(retryAfter: 1), .noSuchCall] as [CallError])
    func `a request that meets a handover is carried out by the call that has the leg afterwards`(_ error: CallError) {
        let offer = CallCommand.offer(CallUpdateRequest(sdp: "v=0"))
        var placement = commanded(offer)
        #expect(placement.handle(.failed(error)) == [.ask(.call(Self.before.call, .place(of: .caller)))])
        #expect(
            placement.handle(.address(Self.after)) == [
                .ask(.call(Self.after.call, .command(offer, Self.after.leg, from: Self.device)))
            ])
        #expect(placement.handle(.failed(.pending(retryAfter: 1))) == [.finish(.failed(.pending(retryAfter: 1)))])
    }

    @Test func `a handover that fails leaves the request to the call that was asked`() {
        var placement = commanded(.end(reasonText: nil))
        _ = placement.handle(.failed(.pending(retryAfter: 1)))
        #expect(
            placement.handle(.address(Self.before)) == [
                .ask(.call(Self.before.call, .command(.end(reasonText: nil), .caller, from: Self.device)))
            ])
        #expect(placement.handle(.done) == [.finish(.placed("A"))])
    }

    @Test(arguments: [true, false])
    func `a request that outlives its call succeeds until its client was told of the end`(_ isAwaited: Bool) {
        var placement = commanded(.audit, outlivesCall: true)
        _ = placement.handle(.failed(.noSuchCall))
        #expect(
            placement.handle(.address(Self.before)) == [.ask(.user(Self.alice, .awaitsEnd("A", device: "a1")))])
        #expect(
            placement.handle(.endAwaited(isAwaited)) == [
                .finish(isAwaited ? .placed("A") : .failed(.noSuchCall))
            ])
    }

    @Test func `another request to a call that is over is refused`() {
        var placement = CommandPlacement(.end(reasonText: nil), in: "A", by: Self.alice, from: nil)
        _ = placement.start()
        #expect(placement.handle(.requester(nil, nil)) == [.finish(.failed(.noSuchCall))])
    }

    @Test func `a file is loaded once the call could play it`() {
        let play = CallCommand.play(Playback(.file("welcome.wav")), to: .peer)
        var placement = CommandPlacement(play, in: "A", by: Self.alice, from: nil)
        _ = placement.start()
        #expect(
            placement.handle(.requester(Self.before, nil)) == [.ask(.call(Self.before.call, .checkPlay(.caller)))])
        #expect(placement.handle(.done) == [.ask(.load(file: "welcome.wav"))])
        #expect(
            placement.handle(.done) == [.ask(.call(Self.before.call, .command(play, .caller, from: nil)))])
        #expect(placement.handle(.done) == [.finish(.placed("A"))])
    }
}
