import CallControl
import CallSupport
import class Foundation.JSONDecoder
import struct Foundation.Data
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// What the books say about calls: their timelines, and the records of their users.
struct CallHistoryTests {
    /// A scripted call whose every step is entered in the books.
    private struct Books {
        var rig: CallRig
        var history: CallHistory
        var records: [CallLogRecord] = []
        var told: [LegID: [Notification]] = [:]

        init(
            callee devices: [Device] = [CallRig.silent, CallRig.plain], _ configuration: Call.Configuration = .init(),
            isAnchored: Bool = false
        ) {
            rig = CallRig(callee: devices, isAnchored: isAnchored, configuration)
            history = CallHistory(origin: Moment(rig.clock.now, epochMilliseconds: 1_000))
        }

        mutating func take(_ steps: [CallStep]) throws {
            for step in steps {
                let actions = try rig.perform(step)
                for told in actions.told { self.told[told.leg, default: []].append(told.notification) }
                records += history.record(actions, at: rig.clock.now)
            }
        }

        func record(of user: UserAddress) -> CallLogRecord? { records.first { $0.user == user } }
    }

    private static func lines(_ events: [CallLogRecord.Event]) -> [String] {
        events.map { event in
            let entry = event.entry
            let words = entry.cause.map(EndingWords.init)
            return
                (["\(entry.time)", event.side.word, entry.event.word]
                + [entry.device.map { "#\($0)" }, words.map { "\($0.statusCode)" }, words?.reasonText, words?.cause]
                .compactMap(\.self))
                .joined(separator: " ")
        }
    }

    @Test func `keys are for who presses and who hears them, and all else is for every leg`() throws {
        let bot = LegHolder.application(ApplicationIdentity("bot#7")!)
        var history = CallHistory(origin: Moment(.zero, epochMilliseconds: 0))
        func join(_ leg: LegID, _ user: UserAddress, _ application: ApplicationIdentity? = nil) {
            var event = Self.facts.first { if case .joined = $0.event.fact { true } else { false } }!.event
            guard case .joined(var participant) = event.fact else { return }
            participant.user = user
            (participant.application, participant.applicationNumber) = (application?.name, application?.number)
            event = CallEvent(leg, .joined(participant))
            _ = history.record(event, at: .zero)
        }
        join(.caller, CallRig.alice)
        join(.callee, CallRig.bob, ApplicationIdentity("bot#7"))
        let third = LegID(7)
        let carol = UserAddress(parsing: "carol@example.com")!
        join(third, carol)
        let everybody: [LegHolder] = [.user(CallRig.alice), bot, .user(carol)]
        for entry in Self.facts {
            let fact = entry.event.fact
            let seen = history.holders(seeing: CallEvent(.callee, fact))
            switch fact {
            case .keyPressed(let key, let milliseconds, _):
                let pressed = CallEvent(.callee, .keyPressed(key: key, milliseconds: milliseconds, of: .caller))
                #expect(history.holders(seeing: pressed) == [.user(CallRig.alice), bot])
            case .gathered: #expect(seen == [bot])
            default: #expect(seen == everybody, "\(fact)")
            }
        }
    }

    /// A line for every fact (`WrittenFactTests`).
    private static let facts = ((try? Fixtures.text("events/facts.jsonl")) ?? "").split(separator: "\n").compactMap {
        try? JSONDecoder().decode(LoggedEvent.self, from: Data($0.utf8))
    }

    struct Ending: Sendable, CustomTestStringConvertible {
        var steps: [CallStep]
        var caller: String
        var callee: String
        init(_ steps: [CallStep], _ caller: String, _ callee: String) {
            (self.steps, self.caller, self.callee) = (steps, caller, callee)
        }
        var testDescription: String { "\(steps)" }
    }

    @Test(arguments: [
        Ending(
            [.start, .answer(.callee), .wait(.seconds(3)), .end(.caller, "bye")],
            "outgoing 200 bye normal_clearing self",
            "incoming 200 bye normal_clearing peer"),
        Ending(
            [.start, .answer(.callee), .end(.callee, nil)], "outgoing 200 normal_clearing peer",
            "incoming 200 normal_clearing self"),
        Ending(
            [.start, .reject(.callee)], "outgoing 603 Declined call_rejected peer",
            "incoming 603 Declined call_rejected self"),
        Ending(
            [.start, .end(.caller, nil)], "outgoing 487 Caller hung up originator_cancel self",
            "missed 487 Caller hung up originator_cancel peer"),
        Ending(
            [.start, .wait(.seconds(60))], "outgoing 487 No answer no_answer gateway",
            "missed 487 No answer no_answer gateway"),
        Ending(
            [.unreachable(.notRegistered), .wait(.milliseconds(250))],
            "outgoing 480 Not registered subscriber_absent gateway",
            "missed 480 Not registered subscriber_absent gateway"),
        Ending(
            [.unreachable(.busy), .wait(.milliseconds(250))], "outgoing 486 User busy user_busy gateway",
            "missed 486 User busy user_busy gateway"),
        Ending(
            [.unreachable(.noSuchUser), .wait(.milliseconds(250))],
            "outgoing 404 User not found unallocated_number gateway", ""),
        Ending(
            [.start, .answer(.callee), .mediaFailed(.callee)], "outgoing 408 media path lost media_timeout gateway",
            "incoming 408 media path lost media_timeout gateway"),
        Ending(
            [.start, .answer(.callee), .mediaFailed(.callee, .fingerprintMismatch)],
            "outgoing 488 media certificate does not match its fingerprint incompatible_destination gateway",
            "incoming 488 media certificate does not match its fingerprint incompatible_destination gateway"),
        Ending(
            [.start, .drain], "outgoing 503 Gateway is shutting down normal_temporary_failure gateway",
            "missed 503 Gateway is shutting down normal_temporary_failure gateway"),
        Ending(
            [.start, .answer(.callee), .left(.caller, "a1", othersRemain: false)],
            "outgoing 480 Not registered subscription_ended self",
            "incoming 480 Not registered subscription_ended peer"),
    ])
    func `each user's record says how the call ended, and for whom`(_ row: Ending) throws {
        var books = Books()
        try books.take(row.steps)
        for (user, expected) in [(CallRig.alice, row.caller), (CallRig.bob, row.callee)] {
            let record = books.record(of: user)
            let said = record.map { record in
                let words = (record.ending?.cause).map(EndingWords.init)
                return [
                    "\(record.direction)", words.map { "\($0.statusCode)" }, words?.reasonText, words?.cause,
                    record.endedBy.word,
                ].compactMap(\.self).joined(separator: " ")
            }
            #expect(said ?? "" == expected)
        }
    }

    @Test(arguments: MediaFailure.allCases) func `why media failed is told as it is recorded`(
        _ failure: MediaFailure
    ) throws {
        var books = Books()
        try books.take([.start, .answer(.callee), .mediaFailed(.callee, failure)])
        for (leg, user) in [(LegID.caller, CallRig.alice), (.callee, CallRig.bob)] {
            let told = try #require(books.told[leg]?.last)
            let ending = try #require(books.record(of: user)?.ending)
            #expect(told.type == .callEnd && told.endedBy == .gateway)
            #expect(ending == CallEnding(.ended(.mediaFailed(.callee, failure))))
            let words = EndingWords(ending.cause)
            #expect(told.statusCode == words.statusCode && told.reasonText == words.reasonText)
            #expect(told.cause == words.cause)
        }
    }

    @Test func `a timeline tells what happened when, and at which end`() throws {
        var books = Books()
        try books.take([
            .start, .wait(.milliseconds(1_500)), .ringing(.callee), .wait(.milliseconds(2)), .answer(.callee),
            .wait(.seconds(1)),
        ])
        try books.take([.end(.callee, nil)])
        let record = try #require(books.record(of: CallRig.alice))
        #expect(
            Self.lines(record.timeline) == [
                "1000 self created", "1000 peer offered #1", "1000 peer offered #2", "1000 peer ringing #2",
                "2500 peer ringing #1",
                "2502 peer answered", "3502 peer ended #1 200 normal_clearing",
            ])
        #expect(
            record.startedAt == 1_000 && record.answeredAt == 2_502 && record.endedAt == 3_502
                && record.duration == 1_000)
    }

    /// Devices b1, b3 and b4 report ringing themselves.
    private func rung(_ decide: (inout CallRig) throws -> [CallAction]) throws -> [String] {
        var rig = CallRig(callee: [CallRig.silent, CallRig.plain, Device("b3", sendsRingingFeedback: true)])
        var history = CallHistory(origin: Moment(rig.clock.now, epochMilliseconds: 0))
        var records: [CallLogRecord] = []
        func enter(_ step: (inout CallRig) throws -> [CallAction]) throws {
            records += history.record(try step(&rig), at: rig.clock.now)
        }
        try enter { try $0.start() }
        rig.clock.advance(by: .milliseconds(7))
        for device in ["b3", "b3", "b1", nil] as [SubscriptionID?] {
            try enter { try $0.call.ringing(by: .callee, from: device) }
        }
        // Subscribed again, under another name: the same device.
        let change = DeviceChange.joined(Device("b4", sendsRingingFeedback: true), replacing: "b3")
        try enter { $0.call.deviceChanged(.callee, change, at: $0.clock.now) }
        rig.clock.advance(by: .milliseconds(1))
        try enter(decide)
        if records.isEmpty { try enter { try $0.perform(.end(.caller, nil)) } }
        return Self.lines(records.first { $0.user == CallRig.alice }?.timeline ?? [])
    }

    private static let rungEntries = [
        "0 self created", "0 peer offered #1", "0 peer offered #2", "0 peer offered #3", "0 peer ringing #2",
        "7 peer ringing #3", "7 peer ringing #1",
        "7 peer ringing", "7 peer offered #3",
    ]

    @Test(
        arguments: [
            ("b4", ["8 peer answered #3", "8 peer answeredElsewhere #1", "8 peer answeredElsewhere #2"]),
            ("b2", ["8 peer answered #2", "8 peer answeredElsewhere #1", "8 peer answeredElsewhere #3"]),
            (nil, ["8 peer answered"]),
        ] as [(SubscriptionID?, [String])])
    func `which devices rang, which answered and which did not is noted, as far as it is known`(
        _ device: SubscriptionID?, _ entries: [String]
    ) throws {
        let lines = try rung { try $0.answer(from: device) }
        #expect(lines == Self.rungEntries + entries + ["8 self ended #1 200 normal_clearing"])
    }

    @Test(arguments: [("b1", " #1"), (nil, "")] as [(SubscriptionID?, String)])
    func `which device declined is noted, as far as it is known`(_ device: SubscriptionID?, _ number: String) throws {
        let lines = try rung { rig in try rig.call.reject(by: .callee, from: device, at: rig.clock.now) }
        #expect(
            lines == Self.rungEntries + [
                "8 peer rejected\(number)", "8 peer ended\(number) 603 Declined call_rejected",
            ])
    }

    @Test func `a media path is noted step by step, and anew after a loss`() throws {
        var rig = try MidCallRig()
        var history = rig.history()
        _ = history.record(rig.call.mediaAdvanced(.callee, to: .flowing), at: rig.clock.now)
        for isLost in [true, true, false] {
            let actions = rig.call.mediaPathChanged(.callee, isLost: isLost)
            _ = history.record(actions, at: rig.clock.now)
        }
        let events = try rig.call.session(for: .caller, history).timeline.map {
            "\($0.side.word) \($0.entry.event.word)"
        }
        #expect(events.suffix(3) == ["peer firstPacket", "peer mediaPathLost", "peer mediaPathRecovered"])
    }

    @Test func `both ends are told of a lost media path, each from its side`() throws {
        var rig = try MidCallRig()
        let told = rig.call.mediaPathChanged(.callee, isLost: true).told.compactMap { told -> String? in
            guard let report = told.notification.mediaPath else { return nil }
            return "\(told.leg) \(told.notification.type.rawValue) \(report.side.word) \(report.isLost)"
        }
        #expect(told == ["caller mediaPath peer true", "callee mediaPath self true"])
        #expect(rig.call.mediaPathChanged(.callee, isLost: true).isEmpty, "once is enough")
    }

    @Test func `holding and resuming is noted`() throws {
        var rig = try MidCallRig()
        var history = rig.history()
        for hold in [true, false] {
            let actions = try rig.setHold(hold, by: .callee)
            _ = history.record(actions, at: rig.clock.now)
        }
        let session = try rig.call.session(for: .callee, history)
        #expect(
            session.timeline.suffix(2).map { "\($0.side.word) \($0.entry.event.word)" } == [
                "self held", "self resumed",
            ])
        #expect(session.members.map(\.side) == [.own, .peer])
        #expect(session.isAnchored && session.state == .inCall && session.progress == .answered)
        #expect(session.members[0].media.map { "\($0.kind.token) \($0.direction.rawValue)" } == ["audio sendrecv"])
        #expect(session.members[1].path == .secured)
    }

    @Test(arguments: [true, false])
    func `a transfer that starts names the other party`(_ isConsultative: Bool) throws {
        var rig = try MidCallRig()
        var history = rig.history()
        let actions: [CallAction]
        if isConsultative {
            actions = try rig.call.consult(
                by: .callee, with: MidCallRig.carol, in: CallID(8), at: rig.clock.now, random: &rig.random)
        } else {
            let target = TransferTests.target(rig.call.takeLeg())
            actions = try rig.call.transfer(by: .callee, to: target, at: rig.clock.now, random: &rig.random)
        }
        _ = history.record(actions, at: rig.clock.now)
        let timeline = try rig.call.session(for: .caller, history).timeline
        let started = try #require(timeline.first { $0.entry.event == .transferStarted })
        #expect(started.side == .peer && started.entry.party == "carol@example.com")
    }

    @Test func `a leg that goes on in another call has one record`() {
        func record(
            _ startedAt: Int64, _ answeredAt: Int64, _ endedAt: Int64, _ direction: CallLogRecord.Direction,
            peer: String
        ) -> CallLogRecord {
            let nobody = DisplayName(name: "", number: "")
            return CallLogRecord(
                id: "B", user: CallRig.bob, direction: direction, startedAt: startedAt, answeredAt: answeredAt,
                endedAt: endedAt,
                caller: .user(nobody), callee: .user(nobody),
                parties: [
                    .init(side: .own, name: "Bob", address: "bob@example.com", isCalled: true),
                    .init(side: .peer, name: peer, address: peer, isCalled: false),
                ],
                ending: nil, endedBy: .gateway,
                timeline: [.init(side: .own, entry: TimelineEntry(time: endedAt, .moved))])
        }
        let whole = record(10, 20, 30, .incoming, peer: "alice").continued(
            by: record(30, 30, 90, .outgoing, peer: "carol"))
        #expect(
            whole.direction == .incoming && whole.startedAt == 10 && whole.answeredAt == 20 && whole.endedAt == 90
                && whole.duration == 70)
        #expect(whole.parties.map(\.address) == ["bob@example.com", "carol", "alice"])
        #expect(whole.timeline.map(\.entry.time) == [30, 90])
    }

    @Test func `who holds and resumes all day fills no memory`() throws {
        var rig = try MidCallRig()
        var history = rig.history()
        for _ in 0..<1_000 {
            for isLost in [true, false] {
                let actions = rig.call.mediaPathChanged(.caller, isLost: isLost)
                _ = history.record(actions, at: rig.clock.now)
            }
        }
        let actions = try rig.call.end(by: .caller, reasonText: nil, at: rig.clock.now)
        let records = history.record(actions, at: rig.clock.now)
        #expect(records.count == 2)
        let timeline = records[0].timeline.map(\.entry)
        #expect(timeline.count == 252 && timeline.last?.event == .ended)
        // The number of those that there was no room for stands in front of the end.
        let kept = timeline.count { $0.event == .mediaPathLost || $0.event == .mediaPathRecovered }
        #expect(timeline[250].event == .omitted && timeline[250].count == 2_000 - kept)
    }
}
