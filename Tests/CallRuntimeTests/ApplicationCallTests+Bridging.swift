import CallControl
import CallRuntime
import CallSupport
import Primitives
import TestSupport
import Testing

/// Calls of one application that are brought together.
extension ApplicationCallTests {
    /// A call of the user to this address of the application, which has taken it; and the user's session.
    private func talking(
        _ rig: RuntimeRig, _ user: UserAddress, at name: String
    ) async throws -> (user: SessionID, bot: SessionID) {
        let callee = try #require(UserAddress(parsing: "\(name)@bots.example.com"))
        let own = try await rig.switchboard.startCall(user, CallStartRequest(callee: callee, sdp: offer))
        for _ in 0..<10_000 {
            let calls = await rig.switchboard.calls(of: self.name)
            if let call = calls.first(where: { $0.from == user && $0.state == .ringing }) {
                _ = try await perform(rig, .answer(CustomContent()), call.id)
                return (own, call.id)
            }
            await Task.yield()
        }
        throw ApplicationRefusal.noSuchCall
    }

    /// Waits until a user's call has these others, which a bot may be told before the call's owner has shown it.
    private func waitForOthers(
        _ others: [String], with user: UserAddress, in session: SessionID, _ rig: RuntimeRig
    ) async throws {
        var found: [String] = []
        for _ in 0..<10_000 {
            found = try await rig.switchboard.callSession(user, session).members.dropFirst().map(\.address).sorted()
            if found == others { return }
            await Task.yield()
        }
        Issue.record("\(user) is with \(found), not with \(others)")
    }

    private func refused(
        _ rig: RuntimeRig, _ command: ApplicationCommand, _ id: SessionID, _ isExpected: (ApplicationRefusal) -> Bool
    ) async {
        do throws(ApplicationRefusal) {
            _ = try await perform(rig, command, id)
            Issue.record("\(command) was carried out")
        } catch {
            #expect(isExpected(error), "\(command): \(error)")
        }
    }

    @Test func `two calls at different addresses talk to each other, and the application leaves`() async throws {
        let commands: [(SessionID) -> ApplicationCommand] = [{ .bridge($0, .leave) }, { .transferToCall($0) }]
        for command in commands {
            try await serve(try application()) { rig in
                try await rig.register(bob, on: 2)
                let first = try await talking(rig, alice, at: "one")
                let second = try await talking(rig, bob, at: "two")
                let shown = try await perform(rig, command(second.bot), first.bot)
                #expect(shown.id == first.bot)
                for bot in [first.bot, second.bot] {
                    #expect(try await look(rig, bot) { $0.state.phase == .ended }.state == .ended(nil))
                }
                try await waitForOthers([bob.text], with: alice, in: first.user, rig)
                try await waitForOthers([alice.text], with: bob, in: second.user, rig)
                await rig.wait { rig.observer.counts.ended.count == 1 }
            }
        }
    }

    @Test(arguments: [ApplicationCommand.join(["?"]), .bridge("?", .stay), .bridge("?", .listen)])
    func `two calls become one, in which the application stays or listens, and which it leaves`(
        _ command: ApplicationCommand
    ) async throws {
        try await serve(try application { $0.maximumCalls = 2 }) { rig in
            try await rig.register(bob, on: 2)
            let first = try await talking(rig, alice, at: "one")
            let second = try await talking(rig, bob, at: "two")
            let meant: ApplicationCommand
            switch command {
            case .bridge(_, let role): meant = .bridge(second.bot, role)
            default: meant = .join([second.bot])
            }
            let isMuted = meant == .bridge(second.bot, .listen)
            let made = try await perform(rig, meant, first.bot)
            #expect(![first.bot, second.bot].contains(made.id) && made.isMuted == isMuted)
            let joined = try await look(rig, made.id) { $0.state == .talking && $0.members.count == 2 }
            #expect(joined.isConference && joined.allowed.contains(.leave) && !joined.allowed.contains(.transfer))
            #expect(Set(joined.members.map(\.address)) == [alice.text, bob.text])
            for bot in [first.bot, second.bot] {
                #expect(try await look(rig, bot) { $0.state.phase == .ended }.state == .ended(nil))
            }
            await rig.settle()
            let spoken = rig.recorder.mediaCommands.compactMap { command in
                if case .say(.caller, let speech) = command { speech } else { nil }
            }
            #expect(spoken == (isMuted ? [.mute(true)] : []))
            try await waitForOthers(["one@bots.example.com", bob.text].sorted(), with: alice, in: first.user, rig)
            #expect(try await perform(rig, .leave, made.id).state.phase == .ended)
            await rig.settle()
            try await waitForOthers([alice.text], with: bob, in: second.user, rig)  // they go on
        }
    }

    @Test func `calls that cannot come together are refused by name, and nothing has changed`() async throws {
        try await serve(try application()) { rig in
            try await rig.register(bob, on: 2)
            let first = try await talking(rig, alice, at: "one")
            func isNotAllowed(_ error: ApplicationRefusal) -> Bool {
                if case .notAllowed = error { true } else { false }
            }
            await refused(rig, .bridge(first.bot, .stay), first.bot) { $0 == .invalid(.repeatedCall(.bridge)) }
            await refused(rig, .join(["x", "x"]), first.bot) { $0 == .invalid(.repeatedCall(.join)) }
            await refused(rig, .join(["x"]), first.bot) { $0 == .invalid(.unknownCall("x", .join)) }
            await refused(rig, .leave, first.bot, isNotAllowed)
            let ringing = try await rig.switchboard.start(
                ApplicationCallRequest(to: bob, from: address), by: name)
            for command in [ApplicationCommand.join([ringing.id]), .transferToCall(ringing.id)] {
                await refused(rig, command, first.bot, isNotAllowed)
            }
            await refused(rig, .join([first.bot]), ringing.id, isNotAllowed)
            try await waitForOthers(["one@bots.example.com"], with: alice, in: first.user, rig)
            #expect(await rig.switchboard.calls(of: name).count == 2)
        }
    }

    @Test func `two commands that bring the same calls together at once do not wait for each other`() async throws {
        try await serve(try application()) { rig in
            try await rig.register(bob, on: 2)
            let first = try await talking(rig, alice, at: "one")
            let second = try await talking(rig, bob, at: "two")
            await withTaskGroup(of: Void.self) { group in
                for (own, other) in [(first.bot, second.bot), (second.bot, first.bot)] {
                    group.addTask { [name] in
                        do {
                            _ = try await rig.switchboard.perform(
                                .bridge(other, .leave), in: own, by: name, expecting: nil)
                        } catch {
                            // The other one was faster.
                        }
                    }
                }
            }
            await rig.settle()
            // Two requests that cross refuse each other, like those of clients. Then both calls are as they were.
            if try await rig.switchboard.call(first.bot, of: name).state == .talking {
                #expect(try await rig.switchboard.call(second.bot, of: name).state == .talking)
                _ = try await perform(rig, .bridge(second.bot, .leave), first.bot)
            }
            for bot in [first.bot, second.bot] { _ = try await look(rig, bot) { $0.state.phase == .ended } }
            try await waitForOthers([bob.text], with: alice, in: first.user, rig)
        }
    }
}
