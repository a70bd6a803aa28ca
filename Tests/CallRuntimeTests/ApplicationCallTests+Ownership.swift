import CallControl
import CallRuntime
import CallSupport
import EventAPI
import SDP
import SPiDR
import TestSupport
import Testing

/// Whose a call is where the addresses of two applications overlap: a single address comes before a domain.
extension ApplicationCallTests {
    private func serveBoth(
        _ test: (RuntimeRig, RecordingJournal, RegisteredApplication) async throws -> Void
    ) async throws {
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.call.mediaPolicy = .engine
        let journal = RecordingJournal()
        let desk = RegisteredApplication(
            identity: try #require(ApplicationIdentity("desk#2")), displayName: "Desk",
            addresses: [ApplicationAddress(address)])
        // The one with the domain comes first.
        let applications = [try application(), desk]
        try await RuntimeRig(configuration, applications: applications, journal: journal).serve { rig in
            try await rig.register(alice, on: 1)
            try await test(rig, journal, desk)
            await rig.switchboard.drain()
            await rig.switchboard.setApplications([])
            await rig.settle()
        }
    }

    /// The call of Alice to an address, once the application knows of it.
    private func called(
        _ rig: RuntimeRig, _ callee: UserAddress, of application: ApplicationIdentity
    ) async throws -> ApplicationCall {
        _ = try await rig.switchboard.startCall(alice, CallStartRequest(callee: callee, sdp: offer))
        return try await ringing(rig, at: callee, of: application)
    }

    /// The call to an address, once the application knows of it.
    private func ringing(
        _ rig: RuntimeRig, at callee: UserAddress, of application: ApplicationIdentity
    ) async throws -> ApplicationCall {
        for _ in 0..<10_000 {
            let calls = await rig.switchboard.calls(of: application)
            if let call = calls.first(where: { $0.to == callee && $0.state.phase != .ended }) { return call }
            await Task.yield()
        }
        throw ApplicationRefusal.noSuchCall
    }

    /// Who may see the events of a call, in order.
    private func scopes(_ journal: RecordingJournal, of call: CallID) -> [EventScope] {
        journal.entries.compactMap { entry in
            guard case .published(let publication) = entry, publication.body.call == call.description else {
                return nil
            }
            return publication.scope
        }
    }

    private func events(_ journal: RecordingJournal, of call: CallID) -> [LoggedEvent] {
        journal.entries.compactMap { if case .event(let event) = $0, event.call == call { event } else { nil } }
    }

    @Test func `a call to a single address is that application's alone, also its events`() async throws {
        try await serveBoth { rig, journal, desk in
            let call = try await called(rig, address, of: desk.identity)
            #expect(await rig.switchboard.calls(of: name).isEmpty)
            await #expect(throws: ApplicationRefusal.noSuchCall) { try await rig.switchboard.call(call.id, of: name) }
            _ = try await rig.switchboard.perform(
                .answer(CustomContent()), in: call.id, by: desk.identity, expecting: nil)
            rig.mediaEvents.post(.keyPressed(.four, milliseconds: 80, .caller), for: call.call)
            await rig.wait {
                events(journal, of: call.call).contains { if case .keyPressed = $0.event.fact { true } else { false } }
            }
            let seen = scopes(journal, of: call.call)
            #expect(seen.last == EventScope([.user(alice), .application(desk.identity)]))
            #expect(seen.allSatisfy { !EventReader.application(name).sees($0) })
            // A gateway that is started after a kill knows it as well.
            let logged = try #require(LoggedCall(events(journal, of: call.call)))
            #expect(logged.holders == [.user(alice), .application(desk.identity)])
            _ = try await rig.switchboard.perform(.end(reasonText: nil), in: call.id, by: desk.identity, expecting: nil)
        }
    }

    @Test func `keys are for who presses them and who hears them, and not for who had the call before`() async throws {
        try await serveBoth { rig, journal, desk in
            let call = try await called(rig, address, of: desk.identity)
            _ = try await rig.switchboard.perform(
                .answer(CustomContent()), in: call.id, by: desk.identity, expecting: nil)
            let other = try #require(UserAddress(parsing: "sales@bots.example.com"))
            _ = try await rig.switchboard.perform(
                .transfer(to: other), in: call.id, by: desk.identity, expecting: nil)
            let taken = try await ringing(rig, at: other, of: name)
            _ = try await perform(rig, .answer(CustomContent()), taken.id)
            await rig.wait { scopes(journal, of: call.call).last?.applications == [desk.identity, name] }
            rig.mediaEvents.post(.keyPressed(.four, milliseconds: 80, .caller), for: call.call)
            await rig.wait {
                events(journal, of: call.call).contains { if case .keyPressed = $0.event.fact { true } else { false } }
            }
            #expect(scopes(journal, of: call.call).last == EventScope([.user(alice), .application(name)]))
            _ = try await perform(rig, .end(reasonText: nil), taken.id)
        }
    }

    @Test func `all other addresses of the domain are the other's, and its events`() async throws {
        try await serveBoth { rig, journal, desk in
            let other = try #require(UserAddress(parsing: "sales@bots.example.com"))
            let call = try await called(rig, other, of: name)
            #expect(await rig.switchboard.calls(of: desk.identity).isEmpty)
            let seen = scopes(journal, of: call.call)
            #expect(seen.last == EventScope([.user(alice), .application(name)]))
            #expect(seen.allSatisfy { !EventReader.application(desk.identity).sees($0) })
        }
    }

    @Test func `an application calls from no address that another one owns`() async throws {
        try await serveBoth { rig, journal, desk in
            let request = try ApplicationCallRequest(to: alice, from: address)
            await #expect(throws: ApplicationRefusal.notOwner(address)) {
                try await rig.switchboard.start(request, by: name)
            }
            let started = try await rig.switchboard.start(request, by: desk.identity)
            #expect(started.from == address)
            #expect(scopes(journal, of: started.call).first == EventScope([.application(desk.identity)]))
            // Without the other application the address is one of the domain, like the rest.
            await rig.switchboard.setApplications([try application()])
            #expect(try await rig.switchboard.start(request, by: name).from == address)
        }
    }

    @Test func `an application of a removed one's name has none of its calls, nor its events`() async throws {
        try await serveBoth { rig, journal, desk in
            let call = try await called(rig, address, of: desk.identity)
            _ = try await rig.switchboard.perform(
                .answer(CustomContent()), in: call.id, by: desk.identity, expecting: nil)
            // It is removed and made again before the gateway looks at what applications there are.
            let later = ApplicationIdentity(name: desk.identity.name, number: 3)
            var remade = desk
            remade.identity = later
            await rig.switchboard.setApplications([try application(), remade])
            for identity in [desk.identity, later] {
                #expect(await rig.switchboard.calls(of: identity).isEmpty)
                await #expect(throws: ApplicationRefusal.noSuchCall) {
                    try await rig.switchboard.perform(.end(reasonText: nil), in: call.id, by: identity, expecting: nil)
                }
            }
            await rig.wait {
                events(journal, of: call.call).contains { if case .ended = $0.event.fact { true } else { false } }
            }
            let seen = scopes(journal, of: call.call)
            #expect(seen.last == EventScope([.user(alice), .application(desk.identity)]))
            #expect(seen.allSatisfy { !EventReader.application(later).sees($0) })
            // The address leads to the new one.
            let own = try await called(rig, address, of: later)
            #expect(own.application == later && own.id != call.id)
            #expect(scopes(journal, of: own.call).allSatisfy { !EventReader.application(desk.identity).sees($0) })
        }
    }
}
