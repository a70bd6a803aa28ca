import CallControl
import CallSupport
import Primitives
import SDP
import SPiDR
import TestSupport
import Testing

/// Calls to devices that are asleep, and are woken by push (spidr-wire §11.2): Bob's phone and tablet.
struct WakingTests {
    private static let phone = SleepingDevice("p1", clientCorrelator: "phone")
    private static let tablet = SleepingDevice("p2", clientCorrelator: "tablet")

    /// A step, and what it tells: notifications as `CallStep` shows them, and `woken`, `back`, `over` for devices that
    /// are asleep.
    private struct Rig {
        var rig: CallRig
        var log: EventLog

        init(
            callee devices: [Device] = [], asleep: [SleepingDevice] = [phone, tablet], isAnchored: Bool = false,
            _ progress: Call.WakingProgress = .atOnce
        ) throws {
            rig = CallRig(
                callee: devices, asleep: asleep, isAnchored: isAnchored,
                Call.Configuration(wakingProgress: progress))
            log = EventLog(from: rig.clock.now)
        }

        mutating func start(_ sdp: String = "offer") throws -> [String] { note(try rig.start(sdp)) }

        mutating func note(_ actions: [CallAction]) -> [String] {
            log.add(actions, at: rig.clock.now)
            return actions.compactMap { action in
                guard case .event(let event) = action else { return nil }
                switch event.fact {
                case .waking(let devices, _): return "woken \(devices.names)"
                case .notWoken(let device): return "failed \(device.rawValue)"
                case .awoke(let device, let subscription): return "\(device.rawValue) back as \(subscription.rawValue)"
                case .wakingOver(let devices, let end, let hasVideo):
                    return "over \(devices.names) \(end.word)\(hasVideo ? " video" : "")"
                default: return action.trace
                }
            }
        }

        mutating func take(_ step: CallStep) throws -> [String] { note(try rig.perform(step)) }

        mutating func change(_ change: DeviceChange) -> [String] {
            note(rig.call.deviceChanged(.callee, change, at: rig.clock.now))
        }

        mutating func comesBack(_ device: SubscriptionID, _ correlator: String?, replacing: SubscriptionID? = nil)
            -> [String]
        {
            change(
                .joined(
                    Device(device, sendsRingingFeedback: true), replacing: replacing, clientCorrelator: correlator))
        }
    }

    @Test(arguments: [
        (Call.WakingProgress.atOnce, ["woken p1+p2", "a1 ringing"]), (.whenAwake, ["woken p1+p2"]),
    ])
    func `a call to devices that are asleep rings`(_ progress: Call.WakingProgress, _ told: [String]) throws {
        var rig = try Rig(progress)
        #expect(try rig.start() == told)
        #expect(rig.rig.call.legState(.callee) == .ringing)
        #expect(rig.rig.call.legState(.caller) == (progress == .atOnce ? .ringing : .dialing))
        #expect(rig.comesBack("b1", "phone") == ["p1 back as b1", "b1 call"])
        #expect(try rig.take(.ringing(.callee)) == (progress == .atOnce ? [] : ["a1 ringing"]))
    }

    @Test func `a device that wakes answers, and the others stop`() throws {
        var rig = try Rig()
        _ = try rig.start()
        _ = rig.comesBack("b1", "phone")
        #expect(
            rig.note(try rig.rig.answer(from: "b1")) == [
                "a1 respondCallUpdate", "over p2 answeredElsewhere", "b1 callCancel", "answered",
            ])
        #expect(rig.comesBack("b2", "tablet") == [], "it was told that it is over")
        #expect(try rig.take(.end(.caller, nil)) == ["b1 callEnd", "ended"])
    }

    @Test func `of two devices that wake, the first answer wins`() throws {
        var rig = try Rig()
        _ = try rig.start()
        _ = rig.comesBack("b1", "phone")
        #expect(rig.comesBack("b2", "tablet") == ["p2 back as b2", "b2 call"])
        #expect(
            rig.note(try rig.rig.answer(from: "b2")) == [
                "a1 respondCallUpdate", "b1 callCancel", "b2 callCancel", "answered",
            ])
        #expect(throws: CallError.alreadyAnswered(state: .inCall)) { try rig.rig.answer(from: "b1") }
    }

    @Test func `an awake device answers before a woken one is back`() throws {
        var rig = try Rig(callee: [CallRig.plain], asleep: [Self.phone], .whenAwake)
        #expect(try rig.start() == ["b2 call", "woken p1", "a1 ringing"])
        #expect(
            rig.note(try rig.rig.answer(from: "b2")) == [
                "a1 respondCallUpdate", "over p1 answeredElsewhere", "b2 callCancel", "answered",
            ])
    }

    /// Each end of a call that rings, before any device is back, after one is, and after both are.
    @Test(arguments: [
        (CallStep.end(.caller, nil), "cancelled"), (.left(.caller, "a1", othersRemain: false), "callerLeft"),
        (.reject(.callee), "rejected"), (.end(.callee, nil), "rejected"), (.wait(.seconds(60)), "unanswered"),
        (.drain, "drained"), (.endedByOperator(nil), "endedByOperator"),
    ])
    func `each device that was woken hears the end once`(_ step: CallStep, _ cause: String) throws {
        for backCount in 0...2 {
            var rig = try Rig()
            _ = try rig.start()
            let back = Array([("b1", "phone"), ("b2", "tablet")].prefix(backCount))
            for (subscription, correlator) in back { _ = rig.comesBack(SubscriptionID(subscription), correlator) }
            let told = try rig.take(step)
            let missing = ["p1", "p2"].dropFirst(backCount).joined(separator: "+")
            #expect(told.filter { $0.hasPrefix("over") } == (backCount < 2 ? ["over \(missing) \(cause)"] : []))
            let heard = told.filter { $0.hasPrefix("b") }.map { $0.split(separator: " ")[0] }
            #expect(heard == (backCount == 0 ? [] : [back.map(\.0).joined(separator: "+")[...]]))
        }
    }

    @Test(arguments: [Call.WakingProgress.atOnce, .whenAwake])
    func `a call none of whose devices can be woken ends like one to a user without devices`(
        _ progress: Call.WakingProgress
    ) throws {
        var rig = try Rig(progress)
        _ = try rig.start()
        #expect(rig.change(.notWoken("p1")) == ["failed p1"])
        #expect(rig.rig.call.legState(.callee) == .ringing, "the other one is awaited")
        #expect(rig.change(.notWoken("p1")) == [], "once")
        #expect(rig.change(.notWoken("p2")) == ["failed p2"])
        #expect(rig.rig.call.legState(.callee) == .ended)
        #expect(rig.rig.call.legState(.caller) == (progress == .atOnce ? .ringing : .dialing))
        #expect(rig.comesBack("b1", "phone") == [], "the call is about to end")
        // Clients know a new call only after some time.
        #expect(rig.rig.call.nextDeadline?.time == rig.rig.clock.now + .milliseconds(250))
        #expect(try rig.take(.wait(.milliseconds(250))) == ["a1 callEnd 480 Not registered", "ended"])
        guard case .ended(let record) = rig.rig.call.state else { throw CancellationError() }
        #expect(record.cause == .unreachable(.notRegistered))
    }

    @Test func `a call that has lasted a while ends as soon as its last push has failed`() throws {
        var rig = try Rig(asleep: [Self.phone])
        _ = try rig.start()
        _ = try rig.take(.wait(.seconds(5)))
        _ = rig.change(.notWoken("p1"))
        #expect(rig.rig.call.nextDeadline?.time == rig.rig.clock.now)
    }

    @Test func `a push that fails does not matter while a device rings, or is back`() throws {
        var rig = try Rig(callee: [CallRig.plain], asleep: [Self.phone])
        _ = try rig.start()
        #expect(rig.change(.notWoken("p1")) == ["failed p1"])
        #expect(rig.rig.call.legState(.callee) == .ringing)
        #expect(try rig.take(.end(.caller, nil)).filter { $0.hasPrefix("over") } == [], "it was not woken")
        rig = try Rig(asleep: [Self.phone])
        _ = try rig.start()
        _ = rig.comesBack("b1", "phone")
        #expect(rig.change(.notWoken("p1")) == [], "it is back")
        #expect(rig.rig.call.legState(.callee) == .ringing)
    }

    @Test func `a transfer whose target cannot be woken fails`() throws {
        var world = try MidCallRig()
        var party = CallParty(user: MidCallRig.carol, name: "Carol", session: "C", devices: [])
        party.sleeping = [Self.phone]
        let target = CallTarget(leg: world.call.takeLeg(), party: party, identity: CallRig.identity("gwcarol"))
        var random = SeededRandomSource(seed: 3)
        let now = world.clock.now
        _ = try world.call.transfer(by: .caller, to: target, at: now, random: &random)
        let facts = world.call.deviceChanged(target.leg, .notWoken("p1"), at: now).facts
        #expect(facts.contains(.notWoken(device: "p1")))
        #expect(
            facts.contains(.transferFailed(reason: .targetNotReached(cause: .unreachable(.notRegistered)))))
        #expect(world.call.legs.count == 2)
    }

    @Test func `a call that only wakes devices ends with the account of its callee`() throws {
        var rig = try Rig()
        _ = try rig.start()
        #expect(rig.change(.userRemoved) == ["a1 callEnd 480 Not registered", "over p1+p2 subscriptionEnded", "ended"])
        rig = try Rig(callee: [CallRig.plain], asleep: [])
        _ = try rig.start()
        #expect(rig.change(.userRemoved) == [], "the ends of subscriptions are told apart")
    }

    @Test func `a transfer fails with the account of the target that it wakes`() throws {
        var world = try MidCallRig()
        var party = CallParty(user: MidCallRig.carol, name: "Carol", session: "C", devices: [])
        party.sleeping = [Self.phone]
        let target = CallTarget(leg: world.call.takeLeg(), party: party, identity: CallRig.identity("gwcarol"))
        var random = SeededRandomSource(seed: 3)
        let now = world.clock.now
        _ = try world.call.transfer(by: .caller, to: target, at: now, random: &random)
        _ = world.call.deviceChanged(target.leg, .userRemoved, at: now)
        #expect(world.call.legs.count == 2)
    }

    @Test func `a forward is an end for the devices that were woken`() throws {
        var rig = try Rig(asleep: [Self.phone])
        _ = try rig.start()
        var random = SeededRandomSource(seed: 1)
        var party = CallParty(
            user: UserAddress(parsing: "dave@example.com")!, name: "Dave", session: "D", devices: [])
        party.sleeping = [Self.tablet]
        let target = CallTarget(leg: rig.rig.call.takeLeg(), party: party, identity: nil)
        let told = rig.note(
            try rig.rig.call.forward(by: .callee, to: target, at: rig.rig.clock.now, random: &random))
        #expect(told == ["over p1 forwarded", "woken p2"])
        #expect(try rig.take(.end(.caller, nil)).contains("over p2 cancelled"))
    }

    @Test func `the last awake device leaves, and the call goes on ringing for those that were woken`() throws {
        var rig = try Rig(callee: [CallRig.silent], asleep: [Self.phone])
        _ = try rig.start()
        #expect(try rig.take(.left(.callee, "b1", othersRemain: false)) == [])
        #expect(rig.comesBack("b9", "phone") == ["p1 back as b9", "b9 call"])
        let told = try rig.take(.left(.callee, "b9", othersRemain: false))
        #expect(told.last == "ended", "nobody is left to ring: \(told)")
    }

    @Test func `a device whose channel was closed is back once its channel opens`() throws {
        var rig = try Rig(callee: [CallRig.silent], asleep: [Self.phone])
        _ = try rig.start()
        #expect(rig.change(.listens("b1", clientCorrelator: "laptop")) == [])
        #expect(rig.change(.listens("b1", clientCorrelator: "phone")) == ["p1 back as b1"])
        #expect(rig.change(.listens("b1", clientCorrelator: "phone")) == [], "once")
        #expect(try rig.take(.reject(.callee)).filter { $0.hasPrefix("over") } == [])
    }

    @Test func `a device that subscribes anew is back in place of its old subscription`() throws {
        var rig = try Rig(callee: [CallRig.silent], asleep: [Self.phone])
        _ = try rig.start()
        #expect(rig.comesBack("b9", "phone", replacing: "b1") == ["p1 back as b9", "b9 call"])
        #expect(rig.rig.call[.callee]?.party.devices.map(\.subscription) == ["b9"])
    }

    @Test func `without a name for itself a device is told both ways, since nobody knows that it is back`() throws {
        var rig = try Rig(asleep: [SleepingDevice("p1", clientCorrelator: nil)])
        _ = try rig.start()
        #expect(rig.comesBack("b1", nil) == ["b1 call"])
        let told = try rig.take(.end(.caller, nil))
        #expect(told.contains("over p1 cancelled"))
        #expect(told.contains { $0.hasPrefix("b1 callEnd") })
    }

    @Test func `an answer needs a subscription, a refusal does not`() throws {
        var rig = try Rig()
        _ = try rig.start()
        let before = rig.rig.call
        #expect(throws: CallError.notAllowed(.answer, .noSubscription)) { try rig.rig.answer() }
        #expect(rig.rig.call == before)
        #expect(try rig.take(.reject(.callee)).contains("over p1+p2 rejected"))
    }

    @Test(arguments: [("audio", false), ("video", true)]) func `the offer says whether the call has video`(
        _ kind: String, _ hasVideo: Bool
    ) throws {
        var rig = try Rig(asleep: [Self.phone])
        _ = try rig.start("v=0\r\nm=\(kind) 9 UDP/TLS/RTP/SAVPF 96\r\nm=video 0 UDP/TLS/RTP/SAVPF 97\r\n")
        #expect(try rig.take(.end(.caller, nil)).contains("over p1 cancelled\(hasVideo ? " video" : "")"))
    }

    @Test func `the offer of an anchored call reaches the device that wakes`() throws {
        var rig = try Rig(asleep: [Self.phone], isAnchored: true)
        let started = try rig.rig.start(ScriptedDescription.audio("alice", .sendReceive))
        let offers = started.compactMap { action in
            if case .event(let event) = action, case .waking(_, let invitation) = event.fact {
                invitation.description
            } else {
                nil
            }
        }
        _ = rig.note(started)
        let told = rig.rig.call.deviceChanged(
            .callee, .joined(Device("b1"), replacing: nil, clientCorrelator: "phone"), at: rig.rig.clock.now)
        #expect(offers.count == 1)
        #expect(told.descriptions(.call) == offers)
        #expect(told.told.map(\.notification.session) == ["B"])
    }

    @Test func `a transfer wakes its target, and a failed one tells it`() throws {
        var world = try MidCallRig()
        var party = CallParty(user: MidCallRig.carol, name: "Carol", session: "C", devices: [])
        party.sleeping = [Self.phone, Self.tablet]
        let target = CallTarget(leg: world.call.takeLeg(), party: party, identity: CallRig.identity("gwcarol"))
        var random = SeededRandomSource(seed: 3)
        let now = world.clock.now
        let started = try world.call.transfer(by: .caller, to: target, at: now, random: &random)
        #expect(started.facts.contains { if case .waking(["p1", "p2"], _) = $0 { true } else { false } })
        let declined = try world.call.reject(by: target.leg, at: now)
        #expect(
            declined.facts.contains { fact in
                if case .wakingOver(["p1", "p2"], .released(.rejected, _), false) = fact { true } else { false }
            })
        #expect(world.call.legs.count == 2)
    }

    // MARK: What is made of the events

    @Test func `a gateway that was killed owes each device that was woken the end, unless it is back`() throws {
        var rig = try Rig()
        _ = try rig.start()
        func owed() throws -> [[PushDeviceID]] {
            try #require(LoggedCall(rig.log.entries(of: rig.rig.call.id))).interruption(at: 61_000).events.compactMap {
                if case .wakingOver(let devices, .released(.interrupted, by: nil), _) = $0.event.fact {
                    devices
                } else {
                    nil
                }
            }
        }
        #expect(try owed() == [["p1", "p2"]])
        _ = rig.comesBack("b1", "phone")
        #expect(try owed() == [["p2"]])
        _ = rig.note(try rig.rig.answer(from: "b1"))
        #expect(try owed() == [])
    }

    @Test func `a gateway that was killed owes nothing to a device that was not woken, or has declined`() throws {
        var rig = try Rig(asleep: [Self.phone])
        _ = try rig.start()
        func owed(after events: [LoggedEvent]) throws -> Int {
            try #require(LoggedCall(events)).interruption(at: 61_000).events.count { entry in
                if case .wakingOver = entry.event.fact { true } else { false }
            }
        }
        let before = rig.log.entries(of: rig.rig.call.id)
        #expect(try owed(after: before) == 1)
        _ = rig.change(.notWoken("p1"))
        #expect(try owed(after: rig.log.entries(of: rig.rig.call.id)) == 0)
        for (asleep, count) in [([Self.phone], 0), ([Self.phone, Self.tablet], 1)] {
            rig = try Rig(asleep: asleep)
            _ = try rig.start()
            _ = try rig.take(.reject(.callee))
            // The end of the process came right after the refusal.
            let entries = rig.log.entries(of: rig.rig.call.id)
            let end = try #require(entries.firstIndex { $0.event.fact == .rejected(device: nil) })
            #expect(try owed(after: Array(entries.prefix(through: end))) == count)
        }
    }

    @Test func `history and metrics have what was woken`() throws {
        var rig = try Rig()
        _ = try rig.start()
        _ = rig.comesBack("b1", "phone")
        _ = try rig.take(.end(.caller, nil))
        var history = CallHistory(origin: Moment(rig.rig.clock.now, epochMilliseconds: 1))
        let events = rig.log.entries(of: rig.rig.call.id).map(\.event)
        for event in events { _ = history.record(event, at: rig.rig.clock.now) }
        let timeline = try #require(history.views.first { $0.leg == .callee }).timeline.map(\.entry.event)
        #expect(timeline == [.created, .waking, .offered, .ended])
        #expect(
            events.compactMap(\.measure) == [
                .started, .woken(2), .awoke, .missed(1), .ended(CallRecord(cause: .cancelled(reasonText: nil))),
            ])
    }
}

extension [PushDeviceID] {
    fileprivate var names: String { map(\.rawValue).joined(separator: "+") }
}

extension [CallAction] {
    fileprivate var facts: [CallEvent.Fact] {
        compactMap { if case .event(let event) = $0 { event.fact } else { nil } }
    }
}

extension CallEvent.WakingEnd {
    fileprivate var word: String {
        switch self {
        case .stoppedRinging(let reason, _): "\(reason)"
        case .released(let cause, _): "\(cause)".split(separator: "(")[0].description
        }
    }
}
