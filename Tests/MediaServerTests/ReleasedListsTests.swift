import CallControl
import CallRuntime
import MediaServer
import Testing

/// Lists of a headless leg whose call is over, or has the leg no more.
struct ReleasedListsTests {
    @Test(arguments: [MediaCommand.releaseLeg(.caller), .release])
    func `what a leg plays when it is released is told with how much was heard`(_ release: MediaCommand) async throws {
        let rig = try Rig()
        defer { rig.server.stop() }
        let (server, call) = (rig.server, rig.call)
        _ = try server.reserve(call, isNew: true)
        for (leg, other) in [(LegID.caller, LegID.callee), (.callee, .caller)] {
            server.send(.prepareHeadless(leg, .silence), for: call)
            server.send(.route(leg, .leg(other)), for: call)
        }
        // The second command finds the other leg.
        server.send(.route(.caller, .leg(.callee)), for: call)
        let lists = try [
            PlayList(items: [.silence(.milliseconds(40))]), PlayList(items: [.silence(.seconds(1))], loops: 0),
            PlayList(items: [.silence(.seconds(1))]),
        ]
        for (index, list) in lists.enumerated() {
            let number = UInt32(index + 1)
            server.send(.say(.caller, .play(list, number: number, tag: "\(number)", .queue)), for: call)
        }
        try await waits { !rig.events.played(by: .caller).isEmpty }
        #expect(
            rig.events.played(by: .caller) == [PlayedList(number: 1, tag: "1", heard: 40, outcome: .completed)],
            "the others go on")
        server.send(release, for: call)
        try await waits { rig.events.played(by: .caller).count == 3 }
        let cutOff = rig.events.played(by: .caller).dropFirst()
        #expect(cutOff.map(\.number) == [2, 3] && cutOff.map(\.tag) == ["2", "3"])
        #expect(cutOff.map(\.outcome) == [.callEnded, .callEnded])
        #expect(cutOff.last?.heard == 0)
        if release != .release { server.send(.release, for: call) }
    }

    /// Waits, for a minute at most: tests share the processors with others.
    private func waits(until isTrue: () -> Bool) async throws {
        let end = ContinuousClock.now + .seconds(60)
        while !isTrue(), ContinuousClock.now < end { try await Task.sleep(for: .milliseconds(5)) }
        #expect(isTrue(), "it never came")
    }
}
