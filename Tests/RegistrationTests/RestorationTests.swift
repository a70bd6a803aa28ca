import CallControl
import CallSupport
import Primitives
import Registration
import SPiDR
import TestSupport
import Testing

/// What a registration leaves to the next process, and how that takes it over.
struct RestorationTests {
    private var rig = RegistrationRig(.init(queue: .init(capacity: 5, maximumAge: .seconds(60), replayLimit: 3)))

    /// The registration of the next process: what is kept of all inputs so far, at a time so much later.
    private func restored(after time: Duration = .seconds(1)) -> RegistrationRig {
        var next = RegistrationRig(.init(queue: .init(capacity: 5, maximumAge: .seconds(60), replayLimit: 3)))
        next.epoch = rig.epoch + time.wholeNanoseconds / 1_000_000
        next.stored = rig.stored
        for subscription in KeptSubscriptions(rig.stored).subscriptions {
            #expect(next.registration.restore(subscription, at: next.now) == [.subscriptionsChanged(by: 1)])
        }
        return next
    }

    /// The numbers of what is sent to the socket, the repeated ones with a minus.
    private func sent(_ actions: [RegistrationAction]) -> [Int] {
        actions.compactMap {
            switch $0 {
            case .transmit(let frame, _): Int(frame.eventID)
            case .replay(let frame, _): -Int(frame.eventID)
            default: nil
            }
        }
    }

    @Test mutating func `a subscription, its channel and its services are there again`() throws {
        try rig.subscribe(expires: .seconds(600), services: ["call", "quality"], feedback: true, correlator: "phone")
        let next = restored()
        #expect(next.registration.channelExists(ChannelID("c1")))
        #expect(next.registration.devices == [Device("s1", sendsRingingFeedback: true)])
        #expect(next.registration.qualityReceivers == ["s1"])
        #expect(next.registration.phase(of: "s1", at: next.clock.now) == .active)
    }

    @Test mutating func `its life time goes on while there is no process`() throws {
        try rig.subscribe(expires: .seconds(60))
        var next = restored(after: .seconds(59))
        #expect(next.advance(by: .seconds(5)).isEmpty)
        #expect(next.advance(by: .seconds(1)).contains(.subscriptionsChanged(by: -1)))
        #expect(next.stored.last == .unsubscribed("s1"))
    }

    @Test mutating func `if the clock was put back, it is no longer than one that is granted now`() throws {
        try rig.subscribe(expires: .seconds(600))
        var next = restored(after: .seconds(-7 * 86_400))
        let longest = Registration.Configuration().maximumExpires
        #expect(next.registration.phase(of: "s1", at: next.clock.now) == .active)
        #expect(next.advance(by: longest + .seconds(60)).contains(.subscriptionsChanged(by: -1)))
    }

    @Test mutating func `a later account of the address starts with nothing`() throws {
        let (first, second) = (AccountIdentity(7), AccountIdentity(8))
        var actions = rig.registration.belongs(to: first, at: rig.now)
        try rig.subscribe()
        actions += rig.registration.belongs(to: first, at: rig.now)
        // Unknown.
        actions += rig.registration.belongs(to: nil, at: rig.now)
        #expect(actions.isEmpty)
        var next = restored()
        #expect(next.registration.account == first)
        let ended = next.note(next.registration.belongs(to: second, at: next.now))
        #expect(ended == [.subscriptionsChanged(by: -1)])
        #expect(next.stored.last == .unsubscribed("s1"))
        #expect(next.registration.account == second && !next.registration.channelExists(ChannelID("c1")))
    }

    @Test mutating func `an extension is kept, too`() throws {
        try rig.subscribe(expires: .seconds(60))
        rig.clock.advance(by: .seconds(30))
        _ = try rig.extend(1, expires: .seconds(600))
        let next = restored(after: .seconds(60))
        #expect(next.registration.phase(of: "s1", at: next.clock.now) == .active)
    }

    @Test mutating func `a subscription that was over stays over`() throws {
        try rig.subscribe()
        try rig.subscribe()
        _ = rig.note(try rig.registration.unsubscribe("s1", at: rig.now))
        let next = restored()
        #expect(!next.registration.channelExists(ChannelID("c1")))
        #expect(next.registration.channelExists(ChannelID("c2")))
    }

    @Test mutating func `what was not sent is sent in order, and new ones are numbered behind it`() throws {
        try rig.subscribe()
        _ = rig.notify([1])
        _ = rig.notify([1], .callEnd)
        var next = restored()
        #expect(sent(try next.open(1, on: 9)) == [1_000, 1_001])
        #expect(sent(next.notify([1])) == [1_002])
    }

    @Test mutating func `what was sent is sent again, as often as a client recognises it`() throws {
        try rig.subscribe()
        _ = try rig.open(1, on: 8)
        for _ in 0..<3 { _ = rig.notify([1]) }
        _ = rig.confirm(1, through: 1_000)
        _ = rig.notify([1])
        _ = rig.notify([1])
        var next = restored()
        #expect(sent(try next.open(1, on: 9)) == [-1_001, -1_002, -1_003], "clients remember three here")
        #expect(sent(next.confirm(1, through: 1_003)) == [1_004])
    }

    @Test mutating func `a client says what it has, and the next process sends what is behind that`() throws {
        try rig.subscribe()
        _ = try rig.open(1, on: 8)
        for _ in 0..<3 { _ = rig.notify([1]) }
        var next = restored()
        #expect(sent(try next.open(1, on: 9, since: 1_001)) == [-1_002])
    }

    @Test mutating func `what waited for an answer was not sent`() throws {
        try rig.subscribe()
        _ = try rig.open(1, on: 8)
        _ = rig.registration.requestStarted(at: rig.clock.now)
        #expect(rig.notify([1]).isEmpty)
        var next = restored()
        #expect(sent(try next.open(1, on: 9)) == [1_000])
    }

    @Test mutating func `no number is given twice, not even one that was given to nobody else`() throws {
        try rig.subscribe()
        _ = try rig.open(1, on: 8)
        // The socket that is replaced is told so, under a number.
        #expect(sent(try rig.open(1, on: 9)) == [1_000])
        var next = restored()
        _ = try next.open(1, on: 10)
        #expect(sent(next.notify([1])) == [1_001])
    }

    @Test mutating func `what is too old is not sent, and the client is told once how much it missed`() throws {
        try rig.subscribe()
        _ = rig.notify([1])
        _ = rig.notify([1])
        var next = restored(after: .seconds(61))
        let actions = try next.open(1, on: 9)
        #expect(actions.contains(.discarded(2, of: "s1")))
        #expect(actions.contains(.transmit(next.frame(1, 1_002, notice: .lost(2)), to: SocketID(9))))
        _ = next.close(1, on: 9)
        #expect(sent(try next.open(1, on: 10)) == [-1_002])
    }

    @Test mutating func `what had to make room is told of as well, once, and by the next process if need be`() throws {
        try rig.subscribe()
        for _ in 0..<8 { _ = rig.notify([1]) }
        var next = restored()
        #expect(sent(try next.open(1, on: 9)) == [1_003, 1_004, 1_005])
        let actions = next.confirm(1, through: 1_005)
        #expect(sent(actions) == [1_006, 1_007, 1_008])
        #expect(actions.contains(.transmit(next.frame(1, 1_008, notice: .lost(3)), to: SocketID(9))))
        rig = next
        var third = restored()
        #expect(!sent(try third.open(1, on: 9)).contains(1_009), "it has been told")
    }
}
