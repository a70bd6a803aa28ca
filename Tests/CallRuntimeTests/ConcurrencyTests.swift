import CallControl
import CallRuntime
import CallSupport
import Primitives
import Registration
import SPiDR
import TestSupport
import Testing

/// Several clients at once.
struct ConcurrencyTests {
    private let alice = RuntimeRig.alice
    private let bob = RuntimeRig.bob

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `of many answers one wins`(_ seed: UInt64) async throws {
        try await RuntimeRig(seed: seed).serve { rig in
            try await rig.register(alice, on: 1)
            for socket in 2...9 as ClosedRange<UInt64> { try await rig.register(bob, on: socket) }
            let a = try await rig.call()
            let b = try await rig.incoming(on: 2)
            let outcomes = await withTaskGroup(of: CallError?.self) { group in
                for number in 2...9 {
                    group.addTask {
                        do throws(CallError) {
                            try await rig.switchboard.answer(bob, b, CallAnswerRequest(sdp: "answer \(number)"))
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: [CallError?]()) { $0.append($1) }
            }
            #expect(outcomes.count { $0 == nil } == 1)
            #expect(outcomes.count { $0 == .alreadyAnswered(state: .inCall) } == 7)
            await rig.expect(["ringing", "respondCallUpdate"], on: 1)
            for socket in 2...9 as ClosedRange<UInt64> { await rig.expect(["call", "callCancel"], on: socket) }
            try await rig.switchboard.audit(alice, a)
        }
    }

    @Test(arguments: 1...10 as ClosedRange<UInt64>)
    func `whoever is first, answer or hang-up, every device sees one consistent end`(_ seed: UInt64) async throws {
        try await RuntimeRig(seed: seed).serve { rig in
            try await rig.register(alice, on: 1)
            try await rig.register(bob, on: 2)
            let a = try await rig.call()
            let b = try await rig.incoming(on: 2)
            // Losing is fine.
            async let answered: Void? = try? rig.switchboard.answer(bob, b, CallAnswerRequest(sdp: "answer"))
            async let ended: Void? = try? rig.switchboard.end(alice, a, reasonText: nil)
            let hasAnswered = await answered != nil
            #expect(await ended != nil, "hanging up never loses")
            if hasAnswered {
                await rig.expect(["ringing", "respondCallUpdate"], on: 1)
                await rig.expect(["call", "callCancel", "callEnd"], on: 2)
            } else {
                await rig.expect(["ringing", "callEnd"], on: 1)
                await rig.expect(["call", "callEnd"], on: 2)
            }
        }
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `many users call each other, and everything comes to rest`(_ seed: UInt64) async throws {
        var configuration = LocalSwitchboard.Configuration(media: .direct)
        configuration.registration.maximumLegs = 1_000
        configuration.registration.maximumRinging = 1_000
        configuration.registration.callRate.burst = 1_000
        try await RuntimeRig(configuration, seed: seed).serve { rig in
            let users = [alice, bob, RuntimeRig.carol]
            var sockets: [UserAddress: UInt64] = [:]
            for (index, user) in users.enumerated() {
                sockets[user] = UInt64(index + 1)
                try await rig.register(user, on: UInt64(index + 1))
            }
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<60 {
                    let (caller, callee) = (users[number % 3], users[(number + 1 + number / 3 % 2) % 3])
                    group.addTask {
                        let ticket = await rig.switchboard.requestStarted(caller, about: nil)
                        let session = try await rig.call(callee, from: caller)
                        await rig.switchboard.requestAnswered(ticket)
                        if number % 2 == 0 { await Task.yield() }
                        try await rig.switchboard.end(caller, session, reasonText: "\(number)")
                    }
                }
                try await group.waitForAll()
            }
            await rig.wait { rig.recorder.entries.count == 60 * 4 }
            for socket in sockets.values {
                let frames = rig.recorder.frames(socket)
                #expect(zip(frames, frames.dropFirst()).allSatisfy { $0.eventID < $1.eventID }, "numbers go up")
                let sessions = Dictionary(grouping: frames, by: \.notification.session)
                for (_, told) in sessions {
                    let types = told.map(\.notification.type)
                    #expect(types == [.call, .callEnd] || types == [.ringing, .callEnd])
                }
            }
            #expect(rig.observer.counts.ended.count == 60)
            #expect(rig.observer.counts.started == 60)
        }
    }

    @Test func `subscribing and leaving at once loses no subscription`() async throws {
        try await RuntimeRig().serve { rig in
            await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<100 {
                            let ticket = await rig.switchboard.requestStarted(alice, about: nil)
                            let grant = try await rig.switchboard.subscribe(
                                alice, SubscriptionRequest(services: ["call"]))
                            #expect(await rig.switchboard.channelExists(alice, grant.channel))
                            try await rig.switchboard.unsubscribe(alice, grant.subscription)
                            await rig.switchboard.requestAnswered(ticket)
                        }
                    }
                }
            }
            #expect(rig.observer.counts.subscriptions == 0)
        }
    }
}
