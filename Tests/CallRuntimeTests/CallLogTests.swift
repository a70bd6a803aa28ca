import CallControl
import CallRuntime
import CallSupport
import SPiDR
import Testing

/// What calls leave in the call log.
struct CallLogTests {
    @Test func `both users find the call in their logs, and lists of calls end with it`() async throws {
        try await RuntimeRig().serve { rig in
            try await rig.register(RuntimeRig.alice, on: 1)
            try await rig.register(RuntimeRig.bob, on: 2)
            let a = try await rig.call()
            let b = try await rig.incoming(on: 2)
            #expect(await rig.switchboard.callSessions(RuntimeRig.alice).map(\.session) == [a])
            try await rig.switchboard.answer(RuntimeRig.bob, b, CallAnswerRequest(sdp: "answer"))
            let session = try await rig.switchboard.callSession(RuntimeRig.bob, b)
            #expect(session.state == .inCall && session.isIncoming && !session.isAnchored)
            #expect(session.members.map(\.address) == ["bob@example.com", "alice@example.com"])
            try await rig.switchboard.end(RuntimeRig.bob, b, reasonText: "bye")

            let (own, others) = try await (
                rig.switchboard.callRecord(RuntimeRig.alice, a),
                rig.switchboard.callRecords(RuntimeRig.bob, from: 0, count: 9)
            )
            #expect(
                own?.direction == .outgoing && own?.ending?.cause == .ended(.completed(by: .callee, reasonText: "bye"))
                    && own?.endedBy == .peer)
            #expect(others.map(\.id) == [b] && others.first?.direction == .incoming && others.first?.endedBy == .own)
            #expect(try await rig.switchboard.callRecord(RuntimeRig.alice, b) == nil, "somebody else's is none")
            #expect(await rig.switchboard.callSessions(RuntimeRig.alice).isEmpty)
        }
    }

    @Test(arguments: [LocalSwitchboard.Configuration.BusyPolicy.ring, .reject])
    func `a user in a call is rung or not, as is configured`(_ policy: LocalSwitchboard.Configuration.BusyPolicy)
        async throws
    {
        try await RuntimeRig(.init(media: .direct, busy: policy)).serve { rig in
            for (user, socket) in [(RuntimeRig.alice, 1), (RuntimeRig.bob, 2), (RuntimeRig.carol, 3)]
                as [(UserAddress, UInt64)]
            {
                try await rig.register(user, on: socket, feedback: true)
            }
            _ = try await rig.call()
            let b = try await rig.incoming(on: 2)
            try await rig.switchboard.answer(RuntimeRig.bob, b, CallAnswerRequest(sdp: "answer"))
            let c = try await rig.call(from: RuntimeRig.carol)
            switch policy {
            case .ring: await rig.expect(["call", "callCancel", "call"], on: 2)
            case .reject:
                rig.clock.advance(by: .milliseconds(250))
                await rig.expect(["callEnd"], on: 3)
                let told = rig.recorder.frames(3).last?.notification
                #expect(told?.statusCode == 486 && told?.cause == "user_busy" && told?.endedBy == .gateway)
                await rig.expect(["call", "callCancel"], on: 2)
                let record = try await rig.switchboard.callRecord(RuntimeRig.carol, c)
                #expect(record?.ending?.cause == .ended(.unreachable(.busy)))
                let others = try await rig.switchboard.callRecords(RuntimeRig.bob, from: 0, count: 9)
                #expect(others.map(\.direction) == [.missed])
            }
            // Nor does one who calls in vain keep the user busy.
            if policy == .reject { _ = try await rig.call(from: RuntimeRig.carol, sdp: "again") }
            try await rig.switchboard.end(RuntimeRig.bob, b, reasonText: nil)
            await rig.settle()
            if policy == .reject {
                _ = try await rig.call(from: RuntimeRig.carol)
                await rig.expect(["call", "callCancel", "call"], on: 2)
            }
        }
    }
}
