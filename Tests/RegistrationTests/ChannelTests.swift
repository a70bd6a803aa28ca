import CallControl
import CallSupport
import Primitives
import Registration
import SPiDR
import TestSupport
import Testing

/// The notification channel (spidr-wire §4).
struct ChannelTests {
    private var rig = RegistrationRig()

    init() throws {
        try rig.subscribe()
        try rig.subscribe()
    }

    @Test mutating func `a notification goes to the sockets of those it is for`() throws {
        _ = try rig.open(1, on: 11)
        _ = try rig.open(2, on: 12)
        #expect(
            rig.notify([1, 2]) == [
                .transmit(rig.frame(1, 1_000), to: SocketID(11)), .transmit(rig.frame(2, 2_000), to: SocketID(12)),
            ])
        #expect(rig.notify([2, 7]) == [.transmit(rig.frame(2, 2_001), to: SocketID(12))])
    }

    @Test func `each of many devices is told once, in whatever order they are named`() throws {
        var rig = RegistrationRig(.init(maximumSubscriptions: 30))
        for number in 1...30 {
            try rig.subscribe()
            _ = try rig.open(number, on: UInt64(number))
        }
        _ = try rig.registration.unsubscribe("s7", at: rig.now)
        let orders: [[Int]] = [
            Array(1...30), Array((1...30).reversed()), [29, 3, 29, 99, 30, 1, 7, 3],
            Array(stride(from: 2, to: 31, by: 3)),
        ]
        for named in orders {
            let sockets = rig.notify(named).compactMap { action -> UInt64? in
                if case .transmit(_, to: let socket) = action { socket.rawValue } else { nil }
            }
            #expect(sockets == Set(named).subtracting([7, 99]).sorted().map { UInt64($0) })
        }
    }

    @Test func `each of many devices confirms for itself, also when others have gone`() throws {
        var rig = RegistrationRig(.init(maximumSubscriptions: 30))
        for number in 1...20 {
            try rig.subscribe()
            _ = try rig.open(number, on: UInt64(number))
        }
        _ = rig.notify(Array(1...20))
        #expect(rig.registration.confirmed(ChannelID("c20"), through: 20_000, at: rig.now) == nil)
        for number in [1, 3, 12] {
            _ = try rig.registration.unsubscribe(SubscriptionID("s\(number)"), at: rig.now)
            #expect(rig.registration.confirmed(ChannelID("c\(number)"), through: .max, at: rig.now) == nil)
        }
        for number in [19, 2, 13] {
            #expect(rig.registration.confirmed(ChannelID("c\(number)"), through: .max, at: rig.now) == nil)
        }
        for number in [2, 4, 13, 14, 19, 18, 20] {
            let isKnown = [2, 13, 19, 20].contains(number)
            let socket = UInt64(100 + number)
            _ = rig.close(number, on: UInt64(number))
            let replayed = try rig.open(number, on: socket)
            let again = RegistrationAction.replay(rig.frame(number, UInt64(number) * 1_000), to: SocketID(socket))
            #expect(replayed == (isKnown ? [] : [again]))
        }
        #expect(throws: RegistrationError.noSuchSubscription) { try rig.open(12, on: 7) }
    }

    @Test mutating func `what was missed is sent when the socket opens`() throws {
        #expect(rig.notify([1]) == [])
        #expect(rig.notify([1], .callEnd) == [])
        #expect(
            try rig.open(1, on: 11) == [
                .transmit(rig.frame(1, 1_000), to: SocketID(11)),
                .transmit(rig.frame(1, 1_001, .callEnd), to: SocketID(11)),
            ])
    }

    @Test mutating func `what may have been lost on a dead socket is sent again under its number`() throws {
        _ = try rig.open(1, on: 11)
        _ = rig.notify([1])
        #expect(rig.close(1, on: 11) == [])
        #expect(rig.notify([1], .callEnd) == [])
        #expect(
            try rig.open(1, on: 12) == [
                .replay(rig.frame(1, 1_000), to: SocketID(12)),
                .transmit(rig.frame(1, 1_001, .callEnd), to: SocketID(12)),
            ])
        #expect(rig.notify([1]) == [.transmit(rig.frame(1, 1_002), to: SocketID(12))])
    }

    @Test mutating func `what a client has confirmed is not sent again`() throws {
        _ = try rig.open(1, on: 11)
        _ = rig.notify([1])
        #expect(rig.confirm(1, through: 1_000) == [])
        #expect(try rig.open(1, on: 11) == [])
        #expect(rig.registration.nextDeadline == Deadline(rig.clock.now + .seconds(60), .replayAge))
        #expect(rig.advance(by: .seconds(60)) == [])
    }

    @Test mutating func `after a minute nothing is sent again, and a client that has not confirmed it is told`() throws
    {
        _ = try rig.open(1, on: 11)
        _ = rig.notify([1])
        #expect(rig.advance(by: .seconds(60)) == [.discarded(1, of: "s1")])
        _ = rig.close(1, on: 11)
        rig.epoch = 7
        #expect(
            try rig.open(1, on: 12) == [.transmit(rig.frame(1, 1_001, notice: .lost(1)), to: SocketID(12))])
    }

    /// Otherwise a gateway that stops would wait for it.
    @Test mutating func `a client that confirms nothing has been told what it can be told`() throws {
        _ = try rig.open(1, on: 11)
        for _ in 0..<60 { _ = rig.notify([1]) }
        #expect(rig.registration.hasToldAll)
        #expect(rig.confirm(1, through: 1_000) == [.transmit(rig.frame(1, 1_050), to: SocketID(11))])
        let request = rig.registration.requestStarted(at: rig.clock.now)
        _ = rig.notify([1])
        _ = rig.confirm(1, through: 1_059)
        #expect(rig.confirm(1, through: 1_059) == [])
        #expect(!rig.registration.hasToldAll, "the answer is awaited")
        _ = rig.registration.requestAnswered(request, at: rig.clock.now)
        #expect(rig.registration.hasToldAll)
    }

    @Test mutating func `a client that says what it has is sent what is behind that, or told how much is missing`()
        throws
    {
        _ = try rig.open(1, on: 11)
        for _ in 0..<3 { _ = rig.notify([1]) }
        _ = rig.confirm(1, through: 1_002)
        _ = rig.close(1, on: 11)
        #expect(try rig.open(1, on: 12, since: 1_001) == [.replay(rig.frame(1, 1_002), to: SocketID(12))])
        _ = rig.confirm(1, through: 1_002)
        _ = rig.advance(by: .seconds(60))
        let actions = try rig.open(1, on: 12, since: 1_000)
        #expect(
            actions == [
                .discarded(2, of: "s1"), .transmit(rig.frame(1, 1_003, notice: .lost(2)), to: SocketID(12)),
            ])
        _ = rig.confirm(1, through: 1_003)
        #expect(try rig.open(1, on: 12, since: 1_003) == [])
    }

    @Test mutating func `what nobody fetched in time is counted as discarded`() throws {
        _ = rig.notify([1])
        #expect(rig.advance(by: .seconds(60)) == [.discarded(1, of: "s1")])
    }

    @Test mutating func `a second socket overrides the first`() throws {
        _ = try rig.open(1, on: 11)
        _ = rig.notify([1])
        #expect(
            try rig.open(1, on: 12) == [
                .transmit(rig.frame(1, 1_001, .websocketOverridden), to: SocketID(11)), .close(SocketID(11), .replaced),
                .replay(rig.frame(1, 1_000), to: SocketID(12)),
            ])
        #expect(rig.close(1, on: 11) == [], "the old one's end changes nothing")
        #expect(rig.notify([1]) == [.transmit(rig.frame(1, 1_002), to: SocketID(12))])
    }

    @Test mutating func `an unknown channel is refused`() {
        #expect(throws: RegistrationError.noSuchSubscription) { try rig.open(7, on: 11) }
        #expect(!rig.registration.channelExists(ChannelID("c7")))
        #expect(rig.registration.channelExists(ChannelID("c1")))
    }

    @Test mutating func `a socket that closes while its subscription ends takes the rest with it`() throws {
        _ = try rig.open(1, on: 11)
        let request = rig.registration.requestStarted(at: rig.clock.now)
        _ = try rig.registration.unsubscribe("s1", at: rig.now)
        #expect(rig.close(1, on: 11) == [])
        #expect(rig.registration.requestAnswered(request, at: rig.clock.now).carriedOut == [])
    }

    // MARK: Requests

    @Test mutating func `a request is answered before anything is notified`() throws {
        _ = try rig.open(1, on: 11)
        let request = rig.registration.requestStarted(at: rig.clock.now)
        #expect(rig.notify([1]) == [])
        #expect(
            rig.registration.requestAnswered(request, at: rig.clock.now).carriedOut == [
                .transmit(rig.frame(1, 1_000), to: SocketID(11))
            ])
    }

    @Test mutating func `a notification does not wait for requests that begin after it`() throws {
        _ = try rig.open(1, on: 11)
        let first = rig.registration.requestStarted(at: rig.clock.now)
        _ = rig.notify([1])
        let second = rig.registration.requestStarted(at: rig.clock.now)
        _ = rig.notify([1], .callEnd)
        #expect(
            rig.registration.requestAnswered(first, at: rig.clock.now).carriedOut == [
                .transmit(rig.frame(1, 1_000), to: SocketID(11))
            ])
        #expect(
            rig.registration.requestAnswered(second, at: rig.clock.now).carriedOut == [
                .transmit(rig.frame(1, 1_001, .callEnd), to: SocketID(11))
            ])
    }

    @Test mutating func `a socket that opens meanwhile does not get ahead of the answer`() throws {
        let request = rig.registration.requestStarted(at: rig.clock.now)
        _ = rig.notify([1])
        #expect(try rig.open(1, on: 11) == [])
        #expect(
            rig.registration.requestAnswered(request, at: rig.clock.now).carriedOut == [
                .transmit(rig.frame(1, 1_000), to: SocketID(11))
            ])
    }

    @Test mutating func `a request that is not answered loses its hold after a while`() throws {
        _ = try rig.open(1, on: 11)
        let request = rig.registration.requestStarted(at: rig.clock.now)
        #expect(rig.registration.nextDeadline == Deadline(rig.clock.now + .seconds(10), .requestPatience))
        _ = rig.notify([1])
        #expect(rig.advance(by: .seconds(10)) == [.transmit(rig.frame(1, 1_000), to: SocketID(11))])
        #expect(rig.registration.requestAnswered(request, at: rig.clock.now).carriedOut == [])
    }

    // MARK: Clients that digest an answer

    private static func about(_ session: String, _ type: Notification.EventType = .ringing) -> Notice {
        .test(type, about: SessionID(session))
    }

    private mutating func types(_ actions: [RegistrationAction]) -> [Notification.EventType] {
        actions.compactMap { if case .transmit(let frame, _) = $0 { frame.notice.type } else { nil } }
    }

    /// One device, s1, whose client is in the middle of a request.
    private mutating func startRequest() throws -> UInt64 {
        rig = RegistrationRig(digests: true)
        try rig.subscribe()
        _ = try rig.open(1, on: 11)
        return rig.registration.requestStarted(at: rig.clock.now)
    }

    @Test mutating func `a client hears nothing of a session for 100 ms after the answer to its own request`() throws {
        let request = try startRequest()
        _ = rig.registration.notify(["s1"], Self.about("A"), at: rig.now)
        #expect(
            rig.registration.requestAnswered(request, AnsweredRequest("A", from: nil), at: rig.clock.now).carriedOut
                == [])
        _ = rig.registration.notify(["s1"], Self.about("A", .callEnd), at: rig.now)
        #expect(rig.registration.nextDeadline == Deadline(rig.clock.now + .milliseconds(100), .digestion))
        #expect(rig.advance(by: .milliseconds(99)) == [])
        #expect(types(rig.advance(by: .milliseconds(1))) == [.ringing, .callEnd])
        #expect(types(rig.registration.notify(["s1"], Self.about("A"), at: rig.now)) == [.ringing])
    }

    @Test mutating func `other sessions do not wait for an answer that is digested`() throws {
        let request = try startRequest()
        _ = rig.registration.requestAnswered(request, AnsweredRequest("A", from: nil), at: rig.clock.now)
        #expect(types(rig.registration.notify(["s1"], Self.about("B", .call), at: rig.now)) == [.call])
    }

    @Test mutating func `a new session is told of after 250 ms, or when the client has made a request about it`() throws
    {
        for mentions in [false, true] {
            let request = try startRequest()
            _ = rig.registration.notify(["s1"], Self.about("A"), at: rig.now)
            let answer = AnsweredRequest("A", isNew: true, others: ["B"], from: nil)
            #expect(rig.registration.requestAnswered(request, answer, at: rig.clock.now).carriedOut == [])
            #expect(rig.registration.notify(["s1"], Self.about("B", .sessionComplete), at: rig.now).carriedOut == [])
            #expect(rig.advance(by: .milliseconds(249)) == [])
            let now = rig.clock.now
            let released =
                mentions ? rig.registration.sessionMentioned("A", at: now) : rig.advance(by: .milliseconds(1))
            #expect(types(released) == [.ringing, .sessionComplete])
        }
    }

    @Test mutating func `a request about a session that the client knew does not shorten the time of the one before`()
        throws
    {
        let request = try startRequest()
        _ = rig.registration.requestAnswered(request, AnsweredRequest("A", from: nil), at: rig.clock.now)
        _ = rig.registration.notify(["s1"], Self.about("A"), at: rig.now)
        #expect(rig.registration.sessionMentioned("A", at: rig.clock.now).carriedOut == [])
    }

    @Test mutating func `a client awaits the end of its session until it has had time to digest the news`() throws {
        let request = try startRequest()
        _ = rig.registration.notify(["s1"], Self.about("A"), at: rig.now)
        _ = rig.registration.notify(["s1"], Self.about("A", .callEnd), at: rig.now)
        #expect(awaitsEnd("A"), "the request is not answered yet")
        #expect(awaitsEnd("A", on: nil))
        #expect(!awaitsEnd("A", on: "s2") && !awaitsEnd("B"))
        _ = rig.registration.requestAnswered(request, AnsweredRequest("A", isNew: true, from: nil), at: rig.clock.now)
        #expect(awaitsEnd("A"), "the client digests the answer")
        #expect(types(rig.registration.sessionMentioned("A", at: rig.clock.now)) == [.ringing, .callEnd])
        _ = rig.advance(by: .milliseconds(99))
        #expect(awaitsEnd("A"), "the news may be on its way")
        _ = rig.advance(by: .milliseconds(1))
        #expect(!awaitsEnd("A"))
    }

    @Test mutating func `a client whose channel is cut awaits the end of its session until it is back`() throws {
        _ = rig.close(1, on: 1)
        _ = rig.registration.notify(["s1"], Self.about("A", .callEnd), at: rig.now)
        _ = rig.advance(by: .seconds(20))
        #expect(awaitsEnd("A"))
        #expect(types(try rig.open(1, on: 2)) == [.callEnd])
        _ = rig.advance(by: .milliseconds(100))
        #expect(!awaitsEnd("A"))
        // It may not have received what was sent.
        _ = rig.close(1, on: 2)
        #expect(awaitsEnd("A"))
        _ = rig.advance(by: .seconds(60))
        #expect(!awaitsEnd("A"), "nothing is replayed any more")
    }

    private func awaitsEnd(_ session: SessionID, on device: SubscriptionID? = "s1") -> Bool {
        rig.registration.awaitsEnd(of: session, on: device, at: rig.clock.now)
    }

    @Test mutating func `nobody is woken for an answer that nothing waits for`() throws {
        let request = try startRequest()
        let idle = rig.registration.nextDeadline
        _ = rig.registration.requestAnswered(request, AnsweredRequest("A", from: nil), at: rig.clock.now)
        #expect(rig.registration.nextDeadline?.reason != .digestion && idle?.reason == .requestPatience)
        rig.clock.advance(by: .milliseconds(100))
        #expect(types(rig.registration.notify(["s1"], Self.about("A"), at: rig.now)) == [.ringing])
    }

    @Test mutating func `what waited for a client that lost its socket meanwhile is sent to the next one in its time`()
        throws
    {
        for milliseconds in [50, 100] {
            let request = try startRequest()
            _ = rig.registration.requestAnswered(request, AnsweredRequest("A", from: nil), at: rig.clock.now)
            _ = rig.registration.notify(["s1"], Self.about("A"), at: rig.now)
            _ = rig.close(1, on: 11)
            #expect(rig.registration.nextDeadline?.reason != .digestion)
            rig.clock.advance(by: .milliseconds(milliseconds))
            let sent = types(try rig.open(1, on: 12))
            #expect(sent == (milliseconds < 100 ? [] : [.ringing]))
            if milliseconds < 100 { #expect(types(rig.advance(by: .milliseconds(50))) == [.ringing]) }
        }
    }

    @Test mutating func `another device does not wait for an answer that is digested`() throws {
        let request = try startRequest()
        try rig.subscribe()
        _ = try rig.open(2, on: 12)
        _ = rig.registration.requestAnswered(request, AnsweredRequest("A", from: "s1"), at: rig.clock.now)
        let told = rig.registration.notify(["s1", "s2"], Self.about("A", .callCancel), at: rig.now).carriedOut
        #expect(told.count == 1)
        guard case .transmit(_, to: SocketID(12))? = told.first else {
            Issue.record("the second device was not told at once")
            return
        }
    }

    @Test mutating func `the socket of a deleted subscription is closed a second after, or by its client`() throws {
        for closes in [false, true] {
            let request = try startRequest()
            _ = try rig.registration.unsubscribe("s1", at: rig.now)
            #expect(rig.registration.requestAnswered(request, at: rig.clock.now).carriedOut == [])
            #expect(!rig.registration.channelExists(ChannelID("c1")) && !rig.registration.isReachable)
            #expect(rig.advance(by: .milliseconds(999)) == [])
            if closes {
                #expect(rig.close(1, on: 11) == [])
            } else {
                #expect(rig.advance(by: .milliseconds(1)) == [.close(SocketID(11), .subscriptionEnded)])
            }
            #expect(rig.registration.isIdle)
        }
    }
}
