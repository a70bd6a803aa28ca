import CallControl
import CallRuntime
import CallSupport
import EventAPI
import Primitives
import SDP
import TestSupport
import Testing

/// Commands that are the first decision about a call, or nothing.
extension ApplicationCallTests {
    private func decide(
        _ rig: RuntimeRig, _ command: ApplicationCommand, _ id: SessionID
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        try await rig.switchboard.decide(by: command, in: id, of: name)
    }

    /// What the call does not allow a decision for; `nil`: it is carried out, or refused for another reason.
    private func refusal(
        _ rig: RuntimeRig, _ command: ApplicationCommand, _ id: SessionID
    ) async -> ApplicationObstacle? {
        do throws(ApplicationRefusal) {
            _ = try await decide(rig, command, id)
        } catch {
            if case .notAllowed(_, let obstacle) = error { return obstacle }
        }
        return nil
    }

    @Test func `the first decision wins, and the call shows until when there may be one`() async throws {
        try await serve(try application { $0.decisionTime = .seconds(3) }) { rig in
            let (_, call) = try await incoming(rig)
            let asked = try await look(rig, call.id) { $0.decideBy != nil }
            #expect(asked.decideBy.map { $0 >= asked.startedAt + 3_000 } == true)
            let shown = try await decide(rig, .answer(CustomContent()), call.id)
            #expect(shown.state == .talking && shown.decideBy == nil)
            // It could be ended by a command, but not by a decision.
            #expect(await refusal(rig, .end(reasonText: nil), call.id) == .decided)
            #expect(try await perform(rig, .end(reasonText: nil), call.id).state.phase == .ended)
        }
    }

    @Test func `of decisions at once one is carried out`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            _ = try await look(rig, call.id) { $0.decideBy != nil }
            let refusals = await withTaskGroup(of: ApplicationRefusal?.self) { group in
                for _ in 0..<10 {
                    group.addTask { [name] in
                        do throws(ApplicationRefusal) {
                            _ = try await rig.switchboard.decide(by: .ring, in: call.id, of: name)
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: [ApplicationRefusal?]()) { $0.append($1) }
            }
            let late = refusals.count { if case .notAllowed(_, .decided)? = $0 { true } else { false } }
            #expect(refusals.count { $0 == nil } == 1 && late == 9)
        }
    }

    @Test func `after its time a decision is refused, and the fallback has happened`() async throws {
        try await serve(try application { ($0.fallback, $0.decisionTime) = (.reject(.busy), .seconds(3)) }) { rig in
            let (_, call) = try await incoming(rig)
            _ = try await look(rig, call.id) { $0.decideBy != nil }
            await rig.settle()
            rig.clock.advance(by: .seconds(3))
            await rig.wait { rig.observer.counts.ended.count == 1 }
            #expect(await refusal(rig, .answer(CustomContent()), call.id) == .decided)
            #expect(rig.observer.counts.ended.map(\.cause) == [.unreachable(.busy)])
        }
    }

    @Test func `a decision that the call refuses leaves the call to the next one`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            let asked = try await look(rig, call.id) { $0.decideBy != nil }
            // Alice's client takes nothing to hear before the answer.
            await #expect(throws: ApplicationRefusal.self) { _ = try await decide(rig, .progress(nil), call.id) }
            #expect(try await look(rig, call.id) { _ in true }.decideBy == asked.decideBy)
            _ = try await decide(rig, .ring, call.id)
        }
    }

    @Test func `what does not answer, refuse or forward a call that rings is no decision`() async throws {
        try await serve(try application()) { rig in
            let (_, call) = try await incoming(rig)
            _ = try await look(rig, call.id) { $0.decideBy != nil }
            for command in [
                ApplicationCommand.hold, .mute, .stop, .leave, .join(["x"]), .transferToCall("x"),
                .send(CustomContent(parameters: [CustomParameter(name: "a", value: "b")])),
            ] {
                #expect(await refusal(rig, command, call.id) == .noDecision(command.name))
            }
            await #expect(throws: ApplicationRefusal.noSuchCall) { _ = try await decide(rig, .ring, "x") }
        }
    }

    @Test func `the event of the invitation says whom it asks, and until when`() async throws {
        let journal = RecordingJournal()
        var configuration = LocalSwitchboard.Configuration(media: .anchored)
        configuration.call.mediaPolicy = .engine
        let asked = try application { $0.decisionTime = .seconds(3) }
        try await RuntimeRig(configuration, applications: [asked], journal: journal).serve { rig in
            try await rig.register(alice, on: 1)
            let (_, call) = try await incoming(rig)
            _ = try await look(rig, call.id) { $0.decideBy != nil }
            let bodies = journal.entries.compactMap { entry -> EventBody? in
                if case .published(let publication) = entry { publication.body } else { nil }
            }
            let invited = try #require(bodies.first { $0.type == "leg.invited" })
            #expect(invited.data["decideBy"] == .integer(invited.time + 3_000))
            #expect(invited.data["session"] == .string(call.id.rawValue))
            #expect(invited.data["from"] == .string(alice.text) && invited.data["to"] == .string(address.text))
            _ = try await perform(rig, .reject(.busy), call.id)
            await rig.switchboard.drain()
            await rig.switchboard.setApplications([])
            await rig.settle()
        }
    }
}
