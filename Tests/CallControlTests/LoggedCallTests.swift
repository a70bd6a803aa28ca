import CallControl
import CallSupport
import Primitives
import SPiDR
import TestSupport
import Testing

/// Calls whose gateway was killed: what the next one tells of them.
struct LoggedCallTests {
    /// A call with the log that it would have.
    private struct Rig {
        var rig: CallRig
        var log: EventLog

        init(callee devices: [Device] = [CallRig.silent, CallRig.plain]) throws {
            rig = CallRig(callee: devices)
            log = EventLog(from: rig.clock.now)
            log.add(try rig.start(), at: rig.clock.now)
        }

        mutating func note(_ actions: [CallAction]) { log.add(actions, at: rig.clock.now) }

        /// What the devices are told after the gateway was killed.
        func told(_ stoppedAt: Int64 = 61_000) throws -> [Told] {
            try #require(LoggedCall(log.entries(of: rig.call.id))).interruption(at: stoppedAt).events.told
        }
    }

    @Test func `a call that rings is over for the caller and for each device`() throws {
        let told = try Rig().told()
        #expect(
            told.map { "\($0.receivers.map(\.rawValue)) \($0.notification.type)" } == [
                #"["a1"] callEnd"#, #"["b1", "b2"] callEnd"#,
            ])
        #expect(told.allSatisfy { $0.notification.statusCode == 503 })
        #expect(told.allSatisfy { $0.notification.reasonText == "Gateway was restarted" })
        #expect(told.map(\.notification.session) == ["A", "B"])
    }

    @Test func `an answered call is over for the devices that have it`() throws {
        var rig = try Rig()
        rig.note(try rig.rig.answer(from: "b2"))
        #expect(try rig.told().map(\.receivers) == [["a1"], ["b2"]])
    }

    @Test func `a device that subscribed anew is told, not its former subscription`() throws {
        var rig = try Rig()
        rig.note(
            rig.rig.call.deviceChanged(.callee, .joined(Device("b3"), replacing: "b1"), at: rig.rig.clock.now))
        rig.note(rig.rig.call.deviceChanged(.callee, .left("b1", othersRemain: true), at: rig.rig.clock.now))
        #expect(try rig.told().map { Set($0.receivers) } == [["a1"], ["b2", "b3"]])
    }

    @Test func `what the log lacks is a number in the timeline`() throws {
        var rig = try Rig()
        rig.note(try rig.rig.answer(from: "b2"))
        var cut = rig.log.entries(of: rig.rig.call.id)
        cut[cut.count - 1].sequence += 70
        let call = try #require(LoggedCall(cut))
        for record in call.interruption(at: 61_000).records {
            #expect(record.timeline.filter { $0.entry.event == .omitted }.map(\.entry.count) == [70])
        }
    }

    @Test func `a leg whose joining the log lacks is told the end nevertheless`() throws {
        let rig = try Rig()
        let whole = rig.log.entries(of: rig.rig.call.id)
        let joining = try #require(
            whole.firstIndex { if case .joined = $0.event.fact { $0.event.leg == .callee } else { false } })
        var damaged = whole
        damaged.remove(at: joining)
        let call = try #require(LoggedCall(damaged))
        #expect(call.interruption(at: 61_000).events.told.map(\.receivers) == [["a1"], ["b1", "b2"]])
        #expect(call.user(of: .callee) == (try #require(LoggedCall(whole))).user(of: .callee))
    }

    @Test func `a call that has ended is not ended again`() throws {
        var rig = try Rig()
        rig.note(try rig.rig.call.end(by: .caller, from: nil, reasonText: nil, at: rig.rig.clock.now))
        let call = try #require(LoggedCall(rig.log.entries(of: rig.rig.call.id)))
        let (events, records) = call.interruption(at: 61_000)
        #expect(events.isEmpty && records.isEmpty)
    }

    @Test func `the records say when the gateway last ran, and that it caused the end`() throws {
        var rig = try Rig()
        rig.rig.clock.advance(by: .seconds(3))
        rig.note(try rig.rig.answer(from: "b2"))
        let call = try #require(LoggedCall(rig.log.entries(of: rig.rig.call.id)))
        // The log's first event is of second 1.
        let (events, records) = call.interruption(at: 61_000)
        #expect(records.map(\.id) == ["A", "B"])
        #expect(records.allSatisfy { $0.endedAt == 61_000 && $0.duration == 57_000 && $0.endedBy == .gateway })
        guard case .ended(let record, by: nil, device: nil) = events.last?.event.fact else {
            Issue.record("the last event is not the end")
            return
        }
        #expect(record == CallRecord(cause: .interrupted, setup: .seconds(3), talk: .seconds(57)))
        #expect(events.map(\.sequence) == Array(rig.log.events.count + 1...rig.log.events.count + 3))
        #expect(LoggedCall([]) == nil)
    }

    @Test func `a clock that was set back makes no call end before its last event`() throws {
        var rig = try Rig()
        rig.rig.clock.advance(by: .seconds(3))
        rig.note(try rig.rig.answer(from: "b2"))
        let call = try #require(LoggedCall(rig.log.entries(of: rig.rig.call.id)))
        #expect(call.interruption(at: 0).records.allSatisfy { $0.endedAt == 4_000 && $0.duration == 0 })
    }

    /// Wherever a call is when the gateway is killed, its devices are told the same as if the gateway had been stopped
    /// in good order at that moment.
    @Test(arguments: 1...12 as ClosedRange<UInt64>)
    func `whenever the gateway is killed, the same devices are told as by a gateway that stops`(_ seed: UInt64) throws {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        var compared = 0
        for _ in 0..<20 {
            let (alice, others) = HoldTests.pairings.randomElement(using: &random)!
            let applications = [[], [CallExplorer.carol], [CallExplorer.dave]].randomElement(using: &random)!
            var walk = try CallExplorer(
                .everything, alice: alice, others: others, applications: Set(applications), keepsLogs: true)
            for _ in 0..<40 {
                guard let step = walk.steps.randomElement(using: &random) else { break }
                _ = try walk.take(step)
                compared += try expectSameTold(in: walk)
            }
        }
        #expect(compared > 150)
    }

    /// - Returns: how many calls were compared.
    private func expectSameTold(in walk: CallExplorer) throws -> Int {
        var count = 0
        for (id, log) in try #require(walk.world.logs) {
            guard var call = walk.world.calls[id], !walk.world.ended.contains(id) else { continue }
            let stopped = call.drain(at: walk.world.clock.now).told.map(Self.summary)
            let killed = LoggedCall(log.entries(of: id))?.interruption(at: 0).events.told.map(Self.summary) ?? []
            #expect(killed == stopped, "call \(id) after \(walk.path)")
            count += 1
        }
        return count
    }

    /// Who is told what about which call. The parties are those that the leg was shown last: a gateway that stops may
    /// know of a change that no device has been told of.
    private static func summary(_ told: Told) -> String {
        let session = told.notification.session?.rawValue ?? "-"
        return "\(told.leg) \(told.receivers.map(\.rawValue).sorted()) \(told.notification.type) \(session)"
    }
}

extension [LoggedEvent] {
    fileprivate var told: [Told] { map { CallAction.event($0.event) }.told }
}
