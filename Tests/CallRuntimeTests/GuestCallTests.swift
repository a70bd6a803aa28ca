import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import SPiDR
import Testing

@Suite struct `Calls of guests` {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob
    private let carol = RuntimeRig.carol

    /// A guest that came to call `account`, with its socket.
    private func admit(
        _ rig: RuntimeRig, toCall account: UserAddress, on socket: UInt64, from network: SourceNetwork? = nil
    ) async throws -> UserAddress {
        let grant = try await rig.switchboard.admit(
            SubscriptionRequest(services: ["callMe"]), toCall: account, from: network)
        let guest = UserAddress(try #require(GuestID(owning: grant.subscription.rawValue)))
        #expect(GuestID(owning: grant.channel.rawValue) == guest.guest)
        #expect(await rig.switchboard.channelOpened(guest, grant.channel, on: SocketID(socket), since: nil))
        return guest
    }

    @Test func `a guest calls its account under an address that nobody has`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            let guest = try await admit(rig, toCall: alice, on: 2)
            #expect(await rig.switchboard.account(of: try #require(guest.guest)) == alice)
            let session = try await rig.call(alice, from: guest)
            #expect(GuestID(owning: session.rawValue) == guest.guest)
            let incoming = try await rig.incoming(on: 1)
            let names = try #require(rig.recorder.frames(1).last?.notification.parties)
            #expect(names.callerName == "Anonymous")
            #expect(names.callerDisplayNumber == guest.text)
            try await rig.switchboard.answer(alice, incoming, CallAnswerRequest(sdp: "answer"))
            await rig.wait { rig.recorder.trace(2).contains("respondCallUpdate") }

            // Nobody else can use the session, not even the account.
            for stranger in [alice, bob, try await admit(rig, toCall: alice, on: 3)] {
                await #expect(throws: CallError.noSuchCall) {
                    try await rig.switchboard.end(stranger, session, reasonText: nil)
                }
                await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.audit(stranger, session) }
            }
            await #expect(throws: CallError.noSuchCall) {
                try await rig.switchboard.end(guest, incoming, reasonText: nil)
            }
            #expect(rig.recorder.frames(3).isEmpty)
            try await rig.switchboard.end(guest, session, reasonText: nil)
            await rig.wait { rig.recorder.trace(1).last == "callEnd" }
        }
    }

    @Test func `a guest calls nobody else, has one call, and neither transfers nor joins`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let guest = try await admit(rig, toCall: alice, on: 3)
            await #expect { try await rig.call(bob, from: guest) } throws: { isForGuests($0) }
            let session = try await rig.call(alice, from: guest)
            await #expect { try await rig.call(alice, from: guest) } throws: { error in
                if case .notAllowed(.start, _)? = error as? CallError { true } else { false }
            }
            await #expect { try await rig.switchboard.transfer(guest, session, to: bob, consultation: nil) } throws: {
                isForGuests($0)
            }
            await #expect {
                try await rig.switchboard.join(guest, session, session, CallUpdateRequest(sdp: "offer"))
            } throws: { isForGuests($0) }
            #expect(rig.recorder.frames(2).isEmpty)
            try await rig.switchboard.end(guest, session, reasonText: nil)
            // Then it may call again.
            await rig.wait { rig.recorder.trace(3).contains("callEnd") }
            await rig.settle()
            try await rig.switchboard.end(guest, try await rig.call(alice, from: guest), reasonText: nil)
        }
    }

    private func isForGuests(_ error: any Error) -> Bool {
        if case .notForGuests? = error as? CallError { true } else { false }
    }

    @Test func `nobody reaches a guest by the address it shows`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let guest = try await admit(rig, toCall: alice, on: 3)
            let shown = try #require(UserAddress(parsing: guest.text))
            _ = try await rig.call(shown, from: alice)
            rig.clock.advance(by: .milliseconds(250))
            await rig.wait { rig.recorder.trace(1).contains("callEnd") }
            #expect(rig.recorder.frames(1).last?.notification.statusCode == 404)
            // Nor by subscribing under it.
            let grant = try await rig.switchboard.subscribe(shown, SubscriptionRequest(services: ["call"]))
            #expect(await rig.switchboard.channelOpened(shown, grant.channel, on: SocketID(4), since: nil))
            let session = try await rig.call(alice, from: guest)
            await rig.wait { rig.recorder.trace(3).contains("ringing") }
            #expect(rig.recorder.frames(3).allSatisfy { $0.notification.session == session })
            #expect(rig.recorder.frames(4).isEmpty)
        }
    }

    @Test func `a call to no account ends like one to somebody who is away`() async throws {
        var endings: [String] = []
        for callee in [bob, UserAddress(parsing: "nobody@example.com")!] {
            try await RuntimeRig().serve { rig in
                let guest = try await admit(rig, toCall: callee, on: 1)
                _ = try await rig.call(callee, from: guest)
                rig.clock.advance(by: .milliseconds(250))
                await rig.wait { rig.recorder.trace(1).contains("callEnd") }
                let end = try #require(rig.recorder.frames(1).last?.notification)
                endings.append("\(rig.recorder.trace(1)) \(end.statusCode ?? 0) \(end.reasonText ?? "")")
            }
        }
        #expect(endings[0] == endings[1])
        #expect(endings[0].contains("480"))
    }

    @Test func `three guests come from one network, and others from elsewhere`() async throws {
        try await RuntimeRig().serve { rig in
            let one = SourceNetwork(IPAddress(v6: 0x2001_0db8_0000_0001, 7)),
                other = SourceNetwork(IPAddress(v4: 0xC000_0201))
            let request = SubscriptionRequest(services: ["callMe"])
            let first = try await rig.switchboard.admit(request, toCall: alice, from: one)
            for account in [alice, bob] { _ = try await rig.switchboard.admit(request, toCall: account, from: one) }
            let neighbour = SourceNetwork(IPAddress(v6: 0x2001_0db8_0000_0001, 8))
            for account in [alice, bob, carol] {
                await #expect(throws: RegistrationError.limitOfNetworkGuests) {
                    try await rig.switchboard.admit(request, toCall: account, from: neighbour)
                }
            }
            _ = try await rig.switchboard.admit(request, toCall: alice, from: other)
            let guest = try #require(GuestID(owning: first.subscription.rawValue))
            try await rig.switchboard.unsubscribe(UserAddress(guest), first.subscription)
            _ = try await rig.switchboard.admit(request, toCall: alice, from: neighbour)
        }
    }

    @Test func `a guest that does not call gives its place back, one that calls keeps it`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            let idle = try await admit(rig, toCall: alice, on: 2)
            let busy = try await admit(rig, toCall: alice, on: 3)
            let session = try await rig.call(alice, from: busy)
            await rig.settle()
            rig.clock.advance(by: .seconds(29))
            await rig.settle()
            #expect(rig.recorder.trace(2) == [])
            rig.clock.advance(by: .seconds(1))
            await rig.expect(["gone", "close 1000"], on: 2)
            while await rig.switchboard.account(of: try #require(idle.guest)) != nil { await Task.yield() }
            await #expect { try await rig.call(alice, from: idle) } throws: { _ in true }
            try await rig.switchboard.end(busy, session, reasonText: nil)
            await rig.settle()
            rig.clock.advance(by: .seconds(120))
            await rig.settle()
            #expect(await rig.switchboard.account(of: try #require(busy.guest)) == alice)
            try await rig.switchboard.end(busy, try await rig.call(alice, from: busy), reasonText: nil)
        }
    }

    @Test func `guests are limited, and make room when they are gone`() async throws {
        var configuration = LocalSwitchboard.Configuration(media: .direct)
        configuration.guests = .init(maximumGuests: 2, maximumPerAccount: 1)
        try await RuntimeRig(configuration).serve { rig in
            let request = SubscriptionRequest(services: ["callMe"])
            let first = try await rig.switchboard.admit(request, toCall: alice, from: nil)
            await #expect(throws: RegistrationError.limitOfGuests) {
                try await rig.switchboard.admit(request, toCall: alice, from: nil)
            }
            _ = try await rig.switchboard.admit(request, toCall: bob, from: nil)
            let guest = try #require(GuestID(owning: first.subscription.rawValue))
            try await rig.switchboard.unsubscribe(UserAddress(guest), first.subscription)
            while await rig.switchboard.account(of: guest) != nil { await Task.yield() }
            // Who is not granted anything takes no room either.
            await #expect(throws: RegistrationError.unsupportedServices(["call"])) {
                try await rig.switchboard.admit(SubscriptionRequest(services: ["call"]), toCall: alice, from: nil)
            }
            await rig.settle()
            _ = try await rig.switchboard.admit(request, toCall: alice, from: nil)
            // Five minutes and the grace later both are gone by themselves.
            await rig.settle()
            rig.clock.advance(by: .seconds(306))
            await rig.settle()
            for _ in 0..<100_000 where rig.clock.sleeperCount > 0 { await Task.yield() }
        }
    }
}
