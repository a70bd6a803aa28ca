import CallControl
import CallSupport
import Primitives
import Registration
import TestSupport
import Testing

/// Which devices of a user a call wakes, and how often.
struct WakeTests {
    private static let bob = UserAddress(parsing: "bob@example.com")!
    private static let devices = [
        SleepingDevice("p1", clientCorrelator: "phone"), SleepingDevice("p2", clientCorrelator: nil),
    ]

    private func caller(_ number: Int) -> UserAddress { UserAddress(parsing: "caller\(number)@example.com")! }

    @Test func `a device listens if its own subscription for calls has an open channel`() throws {
        var registration = Registration(user: Self.bob, firstRequest: 1)
        let now = Moment(.zero, epochMilliseconds: 0)
        func asleep() -> [PushDeviceID] { registration.asleep(among: Self.devices).map(\.id) }
        #expect(asleep() == ["p1", "p2"])
        for (name, services) in [("laptop", ["call"]), ("phone", ["IM"])] {
            let identity = SubscriptionIdentity(
                subscription: SubscriptionID(name), channel: ChannelID(name), firstEventID: 1)
            _ = try registration.subscribe(
                SubscriptionRequest(services: services, clientCorrelator: name), as: identity, at: now)
            _ = try registration.channelOpened(ChannelID(name), on: SocketID(UInt64(name.utf8.count)), at: now)
        }
        #expect(asleep() == ["p1", "p2"], "its subscription is not for calls")
        _ = try registration.extend("phone", SubscriptionRequest(services: ["call"]), at: now)
        #expect(asleep() == ["p2"])
        _ = registration.channelClosed(ChannelID("phone"), on: SocketID(5), at: now.monotonic)
        #expect(asleep() == ["p1", "p2"])
    }

    @Test func `calls that ring are told which device listens`() throws {
        var registration = Registration(user: Self.bob, firstRequest: 1)
        let now = Moment(.zero, epochMilliseconds: 0)
        let identity = SubscriptionIdentity(subscription: "s", channel: ChannelID("c"), firstEventID: 1)
        let request = SubscriptionRequest(services: ["call"], clientCorrelator: "phone")
        #expect(registration.attach("B", to: LegAddress(call: CallID(1), leg: .callee), as: .rung(by: caller(1))) == [])
        #expect(registration.attachments.isEmpty, "no device, and none is woken")
        _ = registration.attach(
            "B", to: LegAddress(call: CallID(1), leg: .callee), as: .rung(by: caller(1)), waking: true)
        let (_, joined) = try registration.subscribe(request, as: identity, at: now)
        #expect(
            joined.contains(
                .inform(CallID(1), .callee, .joined(Device("s"), replacing: nil, clientCorrelator: "phone"))))
        let listens = RegistrationAction.inform(CallID(1), .callee, .listens("s", clientCorrelator: "phone"))
        #expect(try registration.channelOpened(ChannelID("c"), on: SocketID(1), at: now).contains(listens))
        registration.answered("B")
        #expect(try !registration.channelOpened(ChannelID("c"), on: SocketID(2), at: now).contains(listens))
    }

    private func guests(_ count: Int) throws -> [UserAddress] {
        try (0..<count).map { UserAddress(try #require(GuestID(owning: "000000000000000\($0).secret"))) }
    }

    @Test func `guests of one network wake as often as one caller, and all guests leave something to accounts`() throws
    {
        var registration = Registration(user: Self.bob, firstRequest: 1)
        let now = MonotonicTime.zero
        let guests = try guests(9)
        let networks = (0..<3).map { SourceNetwork(IPAddress(v4: 0xC000_0200 + $0)) }
        // Whoever comes again as another guest has the same limit.
        for guest in guests.prefix(5) {
            #expect(registration.chargeWake(by: guest, from: networks[0], at: now) == nil)
        }
        #expect(registration.chargeWake(by: guests[5], from: networks[0], at: now) == .caller)
        // It does not shut out guests from elsewhere.
        for guest in guests[5..<8] { #expect(registration.chargeWake(by: guest, from: networks[1], at: now) == nil) }
        #expect(registration.wakeRefusal(by: guests[8], from: networks[2], at: now) == .guests)
        #expect(registration.chargeWake(by: guests[8], from: networks[2], at: now) == .guests)
        #expect(registration.chargeWake(by: guests[8], at: now) == .guests, "its network is unknown")
        // Nor accounts.
        for number in 0..<2 { #expect(registration.chargeWake(by: caller(number), at: now) == nil) }
        #expect(registration.chargeWake(by: caller(9), at: now) == .user)
        #expect(registration.chargeWake(by: guests[8], from: networks[2], at: now + .seconds(60)) == nil)
        _ = registration.timeout(at: Moment(now + .seconds(1_000), epochMilliseconds: 0))
        #expect(registration.isIdle, "nothing is remembered longer than it binds somebody")
    }

    @Test func `the calls that ring end with the account, whether devices are subscribed or not`() throws {
        var registration = Registration(user: Self.bob, firstRequest: 1)
        let now = Moment(.zero, epochMilliseconds: 0)
        let leg = LegAddress(call: CallID(1), leg: .callee)
        _ = registration.attach("B", to: leg, as: .rung(by: caller(1)), waking: true)
        #expect(registration.isRung)
        #expect(registration.dismiss(at: now).contains(.inform(leg.call, leg.leg, .userRemoved)))
        registration.answered("B")
        #expect(!registration.isRung)
        #expect(!registration.dismiss(at: now).contains(.inform(leg.call, leg.leg, .userRemoved)))
    }

    @Test func `an application is one caller, whichever of its addresses it calls from`() throws {
        var registration = Registration(user: Self.bob, firstRequest: 1)
        let now = MonotonicTime.zero
        let (menu, other) = (try #require(ApplicationName("menu")), try #require(ApplicationName("other")))
        for number in 0..<5 { #expect(registration.chargeWake(by: caller(number), of: menu, at: now) == nil) }
        #expect(registration.wakeRefusal(by: caller(5), of: menu, at: now) == .caller)
        #expect(registration.chargeWake(by: caller(5), of: menu, at: now) == .caller)
        #expect(registration.chargeWake(by: caller(5), of: other, at: now) == nil, "another application")
        #expect(registration.chargeWake(by: caller(5), at: now) == nil, "a user")
    }

    @Test func `one caller wakes half as often as all together`() throws {
        var registration = Registration(user: Self.bob, firstRequest: 1)
        var now = MonotonicTime.zero
        for _ in 0..<5 { #expect(registration.chargeWake(by: caller(7), at: now) == nil) }
        #expect(registration.wakeRefusal(by: caller(7), at: now) == .caller)
        #expect(registration.chargeWake(by: caller(7), at: now) == .caller)
        for number in 0..<5 { #expect(registration.chargeWake(by: caller(number), at: now) == nil) }
        #expect(registration.chargeWake(by: caller(9), at: now) == .user)
        #expect(!registration.isIdle)
        now = now + .seconds(30)
        #expect(registration.wakeRefusal(by: caller(9), at: now) == nil, "a look counts nothing")
        #expect(registration.chargeWake(by: caller(9), at: now) == nil)
        #expect(registration.chargeWake(by: caller(8), at: now) == .user)
        // Nothing is remembered longer than it binds somebody.
        #expect(registration.nextDeadline?.reason == .wakes)
        _ = registration.timeout(at: Moment(now + .seconds(600), epochMilliseconds: 0))
        #expect(registration.isIdle)
    }
}
