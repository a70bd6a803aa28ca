import CallControl
import CallRuntime
import CallSupport
import Foundation
import Primitives
import Registration
import Testing

/// What is counted of requests and calls.
struct CountingTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob

    @Test func `every request is counted with what became of it`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let a = try await rig.call()
            let b = try await rig.incoming(on: 2)
            try await rig.switchboard.audit(alice, a)
            await #expect(throws: CallError.self) {
                try await rig.switchboard.respond(alice, a, CallUpdateRequest(sdp: "answer"))
            }
            await #expect(throws: CallError.descriptionMissing(.answer)) {
                try await rig.switchboard.answer(bob, b, CallAnswerRequest(sdp: ""))
            }
            await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.audit(bob, a) }
            try await rig.switchboard.end(alice, a, reasonText: nil)
            #expect(
                rig.observer.counts.requests == [
                    "start done", "audit done", "respond not_allowed", "answer unusable", "audit no_such_call",
                    "end done",
                ])
        }
    }

    @Test func `what guests may not ask for is counted as well`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(bob, on: 2)
            let grant = try await rig.switchboard.admit(
                SubscriptionRequest(services: ["callMe"]), toCall: alice, from: nil)
            let guest = UserAddress(try #require(GuestID(owning: grant.subscription.rawValue)))
            await #expect(throws: CallError.notForGuests(.otherAccount)) { try await rig.call(bob, from: guest) }
            await #expect(throws: CallError.notForGuests(.bringingOthers)) {
                try await rig.switchboard.transfer(guest, SessionID("A"), to: bob, consultation: nil)
            }
            await #expect(throws: CallError.noSuchCall) { try await rig.switchboard.audit(guest, SessionID("A")) }
            #expect(
                rig.observer.counts.requests == ["start forbidden", "transfer forbidden", "audit no_such_call"])
        }
    }

    @Test func `the written event log of calls gives the counts that were made live`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let answered = try await rig.call()
            try await rig.switchboard.answer(bob, try await rig.incoming(on: 2), CallAnswerRequest(sdp: "answer"))
            try await rig.switchboard.end(alice, answered, reasonText: nil)
            _ = try await rig.call()
            await rig.wait { rig.recorder.trace(2).count { $0 == "call" } == 2 }
            try await rig.switchboard.reject(bob, try await rig.incoming(on: 2), replacement: false)
            _ = try await rig.call(RuntimeRig.carol)
            rig.clock.advance(by: .milliseconds(250))
            await rig.wait { rig.observer.counts.ended.count == 3 }
            let ringing = try await rig.call()
            #expect(rig.observer.counts.started == 4)

            let replayed = CountingObserver()
            for entry in rig.events.entries {
                let read = try JSONDecoder().decode(LoggedEvent.self, from: JSONEncoder().encode(entry))
                if let measure = read.event.measure { replayed.callMeasured(measure) }
            }
            #expect(replayed.counts.calls == rig.observer.counts.calls)
            #expect(replayed.counts.setups.count == 1)
            #expect(
                replayed.counts.ended.map(\.cause) == [
                    .completed(by: .caller, reasonText: nil), .rejected(reasonText: nil),
                    .unreachable(.notRegistered),
                ])
            try await rig.switchboard.end(alice, ringing, reasonText: nil)
        }
    }
}
