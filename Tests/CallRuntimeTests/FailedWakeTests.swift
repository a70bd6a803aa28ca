import CallControl
import CallRuntime
import CallSupport
import Primitives
import Push
import Registration
import SPiDR
import TestSupport
import Testing

/// Calls that wait for a device which does not come: its push fails, its user is removed, or the gateway is about to
/// stop. Alice calls Bob, whose phone is asleep.
@Suite struct `Devices that are not woken` {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob
    private let carol = RuntimeRig.carol

    private func serve(
        _ configuration: LocalSwitchboard.Configuration = .init(media: .direct),
        asleep devices: [(PushDeviceID, String?)] = [("p1", "phone")], account: AccountIdentity? = nil,
        _ test: (RuntimeRig) async throws -> Void
    ) async throws {
        let rig = RuntimeRig(configuration)
        rig.pushes.register(devices, of: bob, account: account)
        try await rig.serve { rig in
            try await rig.register(alice, on: 1)
            try await test(rig)
        }
    }

    /// What the devices were told of the call, once there are so many pushes.
    private func invitations(_ count: Int, _ rig: RuntimeRig) async -> [(PushDeviceID, LoggedEvent)] {
        await rig.wait { rig.pushes.sent.count >= count }
        return rig.pushes.sent.compactMap { push in
            if case .call(let told) = push.occasion { (push.device, told) } else { nil }
        }
    }

    private func ends(_ rig: RuntimeRig, on socket: UInt64 = 1) -> Int {
        rig.recorder.frames(socket).count { $0.notification.type == .callEnd }
    }

    /// Whether the user can subscribe no longer, once the user has heard that nothing rings. The caller may have heard
    /// of the answer before.
    private func isRefused(_ user: UserAddress, _ rig: RuntimeRig) async -> Bool {
        for _ in 0..<100 {
            do throws(RegistrationError) {
                let grant = try await rig.switchboard.subscribe(user, SubscriptionRequest(services: ["call"]))
                try await rig.switchboard.unsubscribe(user, grant.subscription)
            } catch {
                return error == .draining
            }
            await rig.settle()
        }
        return false
    }

    @Test func `a call ends once no push can wake a device, as if there were none`() async throws {
        try await serve(asleep: [("p1", "phone"), ("p2", "tablet")]) { rig in
            _ = try await rig.call()
            let pushes = await invitations(2, rig)
            rig.switchboard.notWoken(pushes[0].0, for: pushes[0].1)
            await rig.settle()
            rig.clock.advance(by: .seconds(1))
            await rig.settle()
            #expect(ends(rig) == 0, "the other device is awaited")
            rig.switchboard.notWoken(pushes[1].0, for: pushes[1].1)
            await rig.wait { ends(rig) == 1 }
            #expect(rig.recorder.frames(1).last?.notification.statusCode == 480)
            await rig.settle()
            #expect(rig.pushes.sent.count == 2, "nobody is told that it rings no more")
            #expect(rig.observer.counts.wakes == [2, 0, 0] && rig.observer.counts.failedWakes == 2)
            #expect(try await rig.switchboard.callRecords(bob, from: 0, count: 9).map(\.direction) == [.missed])
            // The call is over: a late word changes nothing.
            rig.switchboard.notWoken(pushes[1].0, for: pushes[1].1)
            await rig.settle()
        }
    }

    @Test func `clients know the call before it ends, however fast the push fails`() async throws {
        try await serve { rig in
            _ = try await rig.call()
            let pushes = await invitations(1, rig)
            rig.switchboard.notWoken(pushes[0].0, for: pushes[0].1)
            await rig.settle()
            rig.clock.advance(by: .milliseconds(249))
            await rig.settle()
            #expect(ends(rig) == 0)
            rig.clock.advance(by: .milliseconds(1))
            await rig.wait { ends(rig) == 1 }
        }
    }

    @Test func `a device that is made by another account of the address is not woken`() async throws {
        try await serve(account: AccountIdentity(77)) { rig in
            _ = try await rig.call()
            await rig.settle()
            rig.clock.advance(by: .milliseconds(250))
            await rig.wait { ends(rig) == 1 }
            #expect(rig.recorder.frames(1).last?.notification.statusCode == 480)
            #expect(rig.pushes.sent.isEmpty)
        }
    }

    @Test func `a device that was woken answers although the gateway waits only for calls to end`() async throws {
        try await serve { rig in
            let own = try await rig.call()
            _ = await invitations(1, rig)
            rig.switchboard.refuseNewWork()
            async let emptied: Void = rig.switchboard.lastCallEnded()
            await #expect(throws: RegistrationError.draining) {
                try await rig.switchboard.subscribe(carol, SubscriptionRequest(services: ["call"]))
            }
            await #expect(throws: RegistrationError.draining) {
                try await rig.switchboard.subscribe(alice, SubscriptionRequest(services: ["call"]))
            }
            try await rig.register(bob, on: 2, correlator: "phone")
            try await rig.switchboard.answer(bob, rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"))
            await rig.wait { rig.recorder.trace(1).contains("respondCallUpdate") }
            #expect(await isRefused(bob, rig), "nothing rings any more")
            try await rig.switchboard.end(alice, own, reasonText: nil)
            await emptied
            await rig.wait { rig.recorder.trace(2).contains("close 1001") }
        }
    }

    @Test func `guests from one network are one caller, and those from elsewhere wake the phone`() async throws {
        try await serve { rig in
            func wake(from network: SourceNetwork, on socket: UInt64) async throws -> Bool {
                let before = rig.pushes.sent.count
                let grant = try await rig.switchboard.admit(
                    SubscriptionRequest(services: ["callMe"]), toCall: bob, from: network)
                let guest = UserAddress(try #require(GuestID(owning: grant.subscription.rawValue)))
                #expect(await rig.switchboard.channelOpened(guest, grant.channel, on: SocketID(socket), since: nil))
                let session = try await rig.call(bob, from: guest)
                await rig.settle()
                let isWoken = rig.pushes.sent.count > before
                if isWoken { try await rig.switchboard.end(guest, session, reasonText: nil) }
                await rig.settle()
                rig.clock.advance(by: .milliseconds(250))
                await rig.wait { rig.observer.counts.ended.count == rig.observer.counts.started }
                try await rig.switchboard.unsubscribe(guest, grant.subscription)
                return isWoken
            }
            let (one, other) = (SourceNetwork(IPAddress(v4: 0xC000_0201)), SourceNetwork(IPAddress(v4: 0xC000_0202)))
            var woken: [Bool] = []
            for number in 0..<6 { woken.append(try await wake(from: one, on: 10 + UInt64(number))) }
            woken.append(try await wake(from: other, on: 20))
            #expect(woken == [true, true, true, true, true, false, true])
            #expect(rig.observer.counts.asleep == [.caller])
        }
    }
}
