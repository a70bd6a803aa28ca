import CallControl
import CallRuntime
import CallSupport
import SDP
import SPiDR
import TestSupport
import Testing

/// Applications inside the gateway: called by their address, without a registration.
struct ApplicationTests {
    private static let echo = HeadlessSource.echo(delay: .seconds(1))
    private static let address = UserAddress(parsing: "echo@example.com")!
    private static let robot = RegisteredApplication(
        identity: ApplicationIdentity("echo#1")!, displayName: "Echo", addresses: [ApplicationAddress(address)],
        decisionTime: .zero, fallback: .answer(echo))
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob
    private let offer: String

    init() throws { offer = try Fixtures.text("sdp/chromium-156/offer-audio-video.sdp") }

    private func makeRig(_ media: LocalSwitchboard.Configuration.Media = .anchored) -> RuntimeRig {
        RuntimeRig(.init(media: media), applications: [Self.robot])
    }

    private func headless(_ rig: RuntimeRig) -> [MediaCommand] {
        rig.recorder.mediaCommands.filter { if case .prepareHeadless = $0 { true } else { false } }
    }

    @Test func `an application answers at once, and its caller hangs up`() async throws {
        try await makeRig().serve { rig in
            try await rig.register(alice, on: 1)
            let session = try await rig.call(Self.address, sdp: offer)
            await rig.expect(["respondCallUpdate"], on: 1)
            #expect(headless(rig) == [.prepareHeadless(.callee, Self.echo)])
            let view = try await rig.switchboard.callSession(alice, session)
            #expect(view.members.map(\.name) == ["Alice", "Echo"])
            #expect(view.members.map { $0.path == nil } == [false, true])
            try await rig.switchboard.end(alice, session, reasonText: nil)
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(rig.recorder.mediaCommands.last == .release)
        }
    }

    @Test func `it is never busy`() async throws {
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.busy = .reject
        try await RuntimeRig(configuration, applications: [Self.robot]).serve { rig in
            for (user, socket) in [(alice, 1), (bob, 2)] as [(UserAddress, UInt64)] {
                try await rig.register(user, on: socket)
                let session = try await rig.call(Self.address, from: user, sdp: offer)
                await rig.expect(["respondCallUpdate"], on: socket)
                try await rig.switchboard.audit(user, session)
            }
            await rig.switchboard.drain()
            #expect(rig.observer.counts.ended.count == 2)
        }
    }

    @Test func `a caller whose offer cannot be used is declined`() async throws {
        try await makeRig().serve { rig in
            try await rig.register(alice, on: 1)
            var undecodable = try Fixtures.text("sdp/chromium-156/offer-audio.sdp")
            for name in ["opus", "G722", "PCMU", "PCMA"] {
                undecodable = undecodable.split(separator: " \(name)/").joined(separator: " unknown-\(name)/")
            }
            _ = try await rig.call(Self.address, sdp: undecodable)
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(headless(rig).isEmpty)
        }
    }

    @Test func `where media goes from peer to peer there are no applications`() async throws {
        try await makeRig(.direct).serve { rig in
            try await rig.register(alice, on: 1)
            _ = try await rig.call(Self.address)
            await rig.wait { rig.clock.sleeperCount > 0 }
            rig.clock.advance(by: .seconds(1))
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(rig.observer.counts.ended.map(\.cause) == [.unreachable(.noSuchUser)])
            let request = try ApplicationCallRequest(to: alice, from: Self.address)
            await #expect(throws: ApplicationRefusal.notProvided) {
                try await rig.switchboard.start(request, by: ApplicationIdentity("bot#1")!)
            }
        }
    }
}
