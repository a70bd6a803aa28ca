import CallControl
import CallRuntime
import CallSupport
import SPiDR
import Testing

/// The store of the call log, and what calls leave in it.
struct CallLogTests {
    private static func record(
        _ id: String, of user: UserAddress = RuntimeRig.alice, isOver: Bool = true, at time: Int64 = 0
    ) -> CallLogRecord {
        CallLogRecord(
            id: SessionID(id), user: user, direction: .outgoing, startedAt: time, endedAt: time + 10,
            caller: .user(DisplayName(name: "", number: "")),
            callee: .user(DisplayName(name: "", number: "")), parties: [],
            ending: isOver ? CallEnding(.ended(.completed(by: .caller, reasonText: nil))) : nil, endedBy: .own,
            timeline: [])
    }

    private static func ids(
        _ log: MemoryCallLog, _ user: UserAddress = RuntimeRig.alice, from start: Int = 0, count: Int = 100
    ) async -> [String] {
        await log.records(of: user, from: start, count: count).map(\.id.rawValue)
    }

    @Test func `the latest comes first, and parts can be asked for`() async {
        let log = MemoryCallLog()
        for number in 0..<5 { log.add(Self.record("\(number)")) }
        #expect(await Self.ids(log) == ["4", "3", "2", "1", "0"])
        #expect(await Self.ids(log, from: 1, count: 2) == ["3", "2"])
        #expect(await Self.ids(log, from: 9, count: 2) == [])
        #expect(await Self.ids(log, RuntimeRig.bob) == [])
    }

    @Test func `each user has a share, and all together have one; the oldest go first`() async {
        let log = MemoryCallLog(configuration: .init(recordsPerUser: 3, records: 4))
        for number in 0..<5 { log.add(Self.record("a\(number)")) }
        #expect(await Self.ids(log) == ["a4", "a3", "a2"])
        for number in 0..<3 { log.add(Self.record("b\(number)", of: RuntimeRig.bob)) }
        #expect(await Self.ids(log) == ["a4"])
        #expect(await Self.ids(log, RuntimeRig.bob) == ["b2", "b1", "b0"])
    }

    @Test func `without a share nothing is kept`() async {
        let log = MemoryCallLog(configuration: .init(recordsPerUser: 0))
        log.add(Self.record("a"))
        #expect(await Self.ids(log) == [])
    }

    @Test func `records are deleted one by one or all`() async {
        let log = MemoryCallLog(configuration: .init(recordsPerUser: 10, records: 3))
        for id in ["a", "b", "c"] { log.add(Self.record(id)) }
        #expect(await log.remove(SessionID("b"), of: RuntimeRig.alice))
        #expect(await !log.remove(SessionID("b"), of: RuntimeRig.alice))
        #expect(await !log.remove(SessionID("a"), of: RuntimeRig.bob), "somebody else's is none")
        #expect(await Self.ids(log) == ["c", "a"])
        log.add(Self.record("d"))
        #expect(await Self.ids(log) == ["d", "c", "a"], "what was deleted takes no room")
        await log.removeAll(of: RuntimeRig.alice)
        #expect(await Self.ids(log) == [])
        log.add(Self.record("e"))
        #expect(await Self.ids(log) == ["e"])
    }

    @Test func `a leg that goes on elsewhere is shown once that is over, with the times of both`() async {
        let log = MemoryCallLog()
        log.add(Self.record("a", isOver: false, at: 100))
        #expect(await Self.ids(log) == [])
        #expect(await log.record(SessionID("a"), of: RuntimeRig.alice) == nil)
        await log.removeAll(of: RuntimeRig.alice)
        log.add(Self.record("a", at: 200))
        #expect(await Self.ids(log) == ["a"])
        let whole = await log.record(SessionID("a"), of: RuntimeRig.alice)
        #expect(whole?.startedAt == 100 && whole?.endedAt == 210)
    }

    @Test func `however much comes and goes, no more is kept than is to be`() async {
        let log = MemoryCallLog(configuration: .init(recordsPerUser: 5, records: 8))
        for number in 0..<2_000 {
            log.add(
                Self.record(
                    "\(number)", of: number % 3 == 0 ? RuntimeRig.alice : RuntimeRig.bob, isOver: number % 7 != 0))
            if number % 5 == 0 { await log.removeAll(of: RuntimeRig.bob) }
        }
        let (alices, bobs) = await (Self.ids(log), Self.ids(log, RuntimeRig.bob))
        #expect(alices.count <= 5 && bobs.count <= 5 && alices.count + bobs.count <= 8)
    }

    // MARK: With calls

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

            let (own, others) = await (
                rig.switchboard.callRecord(RuntimeRig.alice, a),
                rig.switchboard.callRecords(RuntimeRig.bob, from: 0, count: 9)
            )
            #expect(
                own?.direction == .outgoing && own?.ending?.cause == .ended(.completed(by: .callee, reasonText: "bye"))
                    && own?.endedBy == .peer)
            #expect(others.map(\.id) == [b] && others.first?.direction == .incoming && others.first?.endedBy == .own)
            #expect(await rig.switchboard.callRecord(RuntimeRig.alice, b) == nil, "somebody else's is none")
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
                #expect(
                    await rig.switchboard.callRecord(RuntimeRig.carol, c)?.ending?.cause == .ended(.unreachable(.busy)))
                #expect(
                    await rig.switchboard.callRecords(RuntimeRig.bob, from: 0, count: 9).map(\.direction) == [.missed])
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
