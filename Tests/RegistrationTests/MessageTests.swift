import CallControl
import CallSupport
import Primitives
import Registration
import TestSupport
import Testing

/// Messages for a user: delivered to whoever listens, kept until then (spidr-wire §9).
struct MessageTests {
    private static let joe = UserAddress(parsing: "joe@example.com")!
    private var rig = RegistrationRig(.init(messages: .init(capacity: 4, maximumAge: .seconds(100))))

    private func message(_ name: String, from sender: UserAddress = joe, at time: Int64 = 42) -> InstantMessage {
        InstantMessage(
            id: name, sender: sender, senderName: "Joe", text: "hi", type: "A2", charset: "UTF-8", time: time)
    }

    private func result(_ name: String, _ outcome: MessageResult.Outcome, to sender: UserAddress = joe)
        -> RegistrationAction
    {
        .tell(
            sender,
            .messageResult(MessageResult(message: name, receiver: RegistrationRig.user, outcome: outcome)))
    }

    private mutating func receive(_ message: InstantMessage, mayKeep: Bool = true) throws(ServiceRefusal)
        -> [RegistrationAction]
    {
        rig.note(try rig.registration.receive(message, mayKeep: mayKeep, at: rig.now))
    }

    /// The texts of messages that go to a socket.
    private func sent(_ actions: [RegistrationAction], to socket: UInt64) -> [String] {
        actions.compactMap {
            guard case .transmit(let frame, SocketID(socket)) = $0, case .service(.message(let message)) = frame.notice
            else { return nil }
            return message.id
        }
    }

    @Test mutating func `all devices for messages are told, and the sender that one has it`() throws {
        for services in [["call", "IM"], ["call"], ["im"]] { try rig.subscribe(services: services) }
        for number in 1...3 { _ = try rig.open(number, on: UInt64(number)) }
        let actions = try receive(message("m1"))
        #expect((1...3).map { sent(actions, to: $0) } == [["m1"], [], ["m1"]])
        #expect(actions.last == result("m1", .delivered))
        #expect(rig.registration.isIdle == false)
    }

    @Test mutating func `without a device that listens messages are kept, and come in order, once`() throws {
        #expect(try receive(message("m1")) == [.keptMessagesChanged(by: 1), result("m1", .kept)])
        #expect(!rig.registration.isIdle)
        try rig.subscribe(services: ["call"])
        #expect(sent(try rig.open(1, on: 1), to: 1) == [])
        try rig.subscribe(services: ["IM"])
        #expect(try receive(message("m2")).last == result("m2", .kept), "nobody listens there yet")
        let actions = try rig.open(2, on: 2)
        #expect(sent(actions, to: 2) == ["m1", "m2"])
        #expect(actions.count { $0 == .keptMessagesChanged(by: -1) } == 2)
        #expect(actions.contains(result("m1", .delivered)) && actions.contains(result("m2", .delivered)))
        #expect(rig.close(2, on: 2).isEmpty)
        #expect(sent(try rig.open(2, on: 3), to: 3) == [], "it is a replay, not another delivery")
    }

    @Test mutating func `a device that confirms nothing is given no more than its log has room for`() throws {
        rig = RegistrationRig(
            .init(messages: .init(capacity: 20), queue: .init(capacity: 6, maximumAge: .seconds(60), replayLimit: 6)))
        for number in 1...5 { _ = try receive(message("m\(number)")) }
        try rig.subscribe(services: ["IM"])
        #expect(sent(try rig.open(1, on: 1), to: 1) == ["m1", "m2", "m3"])
        #expect(try receive(message("m6")).last == result("m6", .kept), "it does not come before the others")
        #expect(sent(rig.confirm(1, through: 1_001), to: 1) == ["m4", "m5"])
        #expect(sent(rig.confirm(1, through: 1_004), to: 1) == ["m6"])
        #expect(sent(try receive(message("m7")), to: 1) == ["m7"])
    }

    @Test mutating func `a device whose channel is closed gets them when it is open again`() throws {
        try rig.subscribe(services: ["IM"])
        _ = try rig.open(1, on: 1)
        _ = rig.close(1, on: 1)
        #expect(try receive(message("m1")).last == result("m1", .kept))
        #expect(sent(try rig.open(1, on: 2), to: 2) == ["m1"])
    }

    @Test mutating func `a device that asks for messages later gets what is kept`() throws {
        _ = try receive(message("m1"))
        try rig.subscribe(services: ["call"])
        _ = try rig.open(1, on: 1)
        #expect(sent(try rig.extend(1, services: ["call", "IM"]).actions, to: 1) == ["m1"])
    }

    @Test mutating func `what is kept is noted before it is told, and removed when it is delivered`() throws {
        _ = try receive(message("m1"))
        #expect(rig.stored == [.service(.messageKept(message("m1"), for: RegistrationRig.user))])
        try rig.subscribe(services: ["IM"])
        _ = try rig.open(1, on: 1)
        #expect(rig.stored.contains(.service(.messagesRemoved(["m1"], of: RegistrationRig.user))))
    }

    @Test mutating func `what is kept for a later account of the address is not the former's`() throws {
        let (first, second) = (AccountIdentity(7), AccountIdentity(8))
        _ = rig.registration.belongs(to: first, at: rig.now)
        try rig.subscribe(services: ["IM"])
        _ = rig.note(rig.registration.dismiss(at: rig.now))
        #expect(rig.registration.account == nil)
        _ = try receive(message("m1"))
        _ = rig.note(rig.registration.belongs(to: second, at: rig.now))
        try rig.subscribe(services: ["IM"])
        #expect(sent(try rig.open(2, on: 1), to: 1) == ["m1"])
    }

    @Test mutating func `the inbox is bounded, and one sender may fill half of it`() throws {
        let ann = UserAddress(parsing: "bob@example.com")!
        for number in 1...2 { _ = try receive(message("j\(number)")) }
        #expect(throws: ServiceRefusal.inboxFull) { try receive(message("j3")) }
        for number in 1...2 { _ = try receive(message("a\(number)", from: ann)) }
        let carol = UserAddress(parsing: "carol@example.com")!
        #expect(throws: ServiceRefusal.inboxFull) { try receive(message("c1", from: carol)) }
        #expect(throws: ServiceRefusal.inboxFull) { try receive(message("x"), mayKeep: false) }
        try rig.subscribe(services: ["IM"])
        #expect(sent(try rig.open(1, on: 1), to: 1) == ["j1", "j2", "a1", "a2"])
        #expect(sent(try receive(message("x"), mayKeep: false), to: 1) == ["x"], "nothing has to be kept")
    }

    @Test mutating func `a message that was kept for long enough is given up, and its sender is told`() throws {
        _ = try receive(message("m1", at: rig.epoch))
        #expect(rig.registration.nextDeadline == Deadline(rig.clock.now + .seconds(100), .keptMessages))
        rig.epoch += 40_000
        _ = rig.advance(by: .seconds(40))
        _ = try receive(message("m2", at: rig.epoch))
        rig.epoch += 60_000
        #expect(rig.advance(by: .seconds(60)) == [.keptMessagesChanged(by: -1), result("m1", .expired)])
        rig.epoch += 40_000
        #expect(rig.advance(by: .seconds(40)).last == result("m2", .expired))
        #expect(rig.registration.isIdle)
    }

    @Test mutating func `what was kept outlives the process`() throws {
        _ = rig.registration.restore([message("m1")], at: rig.now)
        _ = try receive(message("m2"))
        try rig.subscribe(services: ["IM"])
        #expect(sent(try rig.open(1, on: 1), to: 1) == ["m1", "m2"])
    }

    @Test mutating func `the sender's devices for messages are told what became of one`() throws {
        try rig.subscribe(services: ["call"])
        try rig.subscribe(services: ["IM"])
        for number in 1...2 { _ = try rig.open(number, on: UInt64(number)) }
        let told = MessageResult(message: "m1", receiver: Self.joe, outcome: .delivered)
        let actions = rig.note(rig.registration.told(.messageResult(told), at: rig.now))
        #expect(actions == [.transmit(rig.frame(2, 2_000, notice: .service(.messageResult(told))), to: SocketID(2))])
    }

    @Test mutating func `who sends too many messages waits`() throws {
        rig = RegistrationRig(.init(messages: .init(rate: .init(burst: 2, interval: .seconds(1)))))
        for _ in 0..<2 { try rig.registration.chargeMessage(at: rig.clock.now) }
        #expect(throws: ServiceRefusal.tooManyMessages(retryAfter: .seconds(1))) {
            try rig.registration.chargeMessage(at: rig.clock.now)
        }
        #expect(!rig.registration.isIdle)
        #expect(rig.registration.nextDeadline?.reason == .messageRate)
        _ = rig.advance(by: .seconds(2))
        #expect(rig.registration.isIdle)
    }

    @Test mutating func `with the account all messages are gone`() throws {
        _ = try receive(message("m1"))
        _ = rig.note(rig.registration.dismiss(at: rig.now))
        #expect(rig.stored.last == .service(.messagesRemoved(["m1"], of: RegistrationRig.user)))
        #expect(rig.registration.isIdle)
    }

    @Test mutating func `voice mail is told to all devices`() throws {
        try rig.subscribe(services: ["call"])
        _ = try rig.open(1, on: 1)
        let count = VoicemailCount(unheard: 1, heard: 2)
        let actions = rig.note(rig.registration.told(.voicemail(count), at: rig.now))
        #expect(
            actions == [
                .transmit(rig.frame(1, 1_000, notice: .service(.voicemail(count))), to: SocketID(1)),
                .push(SilentPush(.messageWaiting(count), to: .allBut([]))),
            ])
        #expect(count.total == 3)
    }
}
