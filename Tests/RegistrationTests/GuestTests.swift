import CallControl
import CallSupport
import Primitives
import Registration
import TestSupport
import Testing

@Suite struct `Guests` {
    private let alice = UserAddress(parsing: "alice@example.com")!
    private let bob = UserAddress(parsing: "bob@example.com")!

    private func guests(_ count: Int) -> [GuestID] {
        var random = SeededRandomSource(seed: 3)
        return (0..<count).map { _ in GuestID(random: &random) }
    }

    // MARK: Identity

    @Test func `no text that is read is a guest's address`() throws {
        let guest = UserAddress(guests(1)[0])
        let read = try #require(UserAddress(parsing: guest.text))
        #expect(read.text == guest.text)
        #expect(read != guest)
        #expect(read.guest == nil)
    }

    @Test func `the names of a guest's resources lead back to it`() {
        var random = SeededRandomSource(seed: 4)
        for _ in 0..<100 {
            let guest = GuestID(random: &random)
            let identity = SubscriptionIdentity(random: &random, prefix: UserAddress(guest).resourcePrefix)
            #expect(GuestID(owning: identity.subscription.rawValue) == guest)
            #expect(GuestID(owning: identity.channel.rawValue) == guest)
            #expect(identity.subscription.rawValue.utf8.count == 16 + 1 + 16)
        }
        #expect(alice.resourcePrefix.isEmpty)
    }

    @Test(arguments: [
        "", ".", "A1", "3f1c9a0b7e5d248.x", "3f1c9a0b7e5d24866.x", "3F1C9A0B7E5D2486.x", "3f1c9a0b7e5d2486",
        "３f1c9a0b7e5d248.x",
        "3f1c9a0b7e5d248é.x",
    ])
    func `other names lead nowhere`(_ name: String) {
        #expect(GuestID(owning: name) == nil)
    }

    // MARK: Tokens

    @Test(
        arguments: [
            ("alice@example.com;1700000000000", "alice@example.com", 1_700_000_000_000),
            ("sip:bob@example.com;transport=tls;17", "bob@example.com", 17),
            ("alice;0", "alice@example.com", 0),
            ("alice@example.com", nil, 0), ("alice@example.com;", nil, 0), ("alice@example.com;17e9", nil, 0),
            ("alice@example.com;-1", nil, 0),
            (";1700000000000", nil, 0), ("", nil, 0), ("alice@example.com;99999999999999999999", nil, 0),
            ("a b;1", nil, 0),
        ] as [(String, String?, Int64)])
    func `a token holds an address and a time`(_ text: String, _ address: String?, _ time: Int64) {
        let token = CallMeToken(parsing: Array(text.utf8), defaultDomain: "example.com")
        #expect(token?.address.text == address)
        #expect(token?.issuedAt == (address == nil ? nil : time))
    }

    @Test func `bytes that are no text are no token, and no bytes bring the reader down`() {
        #expect(CallMeToken(parsing: [0xFF, 0x3B, 0x31], defaultDomain: "example.com") == nil)
        var random = SeededRandomSource(seed: 5)
        for count in 0..<500 { _ = CallMeToken(parsing: random.nextBytes(count % 64), defaultDomain: "example.com") }
    }

    @Test(
        arguments: [(0, true), (300_000, true), (-300_000, true), (300_001, false), (-300_001, false), (.max, false)]
            as [(Int64, Bool)])
    func `a token is current within its window, either way`(_ age: Int64, _ isCurrent: Bool) {
        let now: Int64 = 1_700_000_000_000
        let token = CallMeToken(address: alice, issuedAt: age == .max ? .min : now - age)
        #expect(token.isCurrent(atUnixMilliseconds: now, window: .seconds(300)) == isCurrent)
    }

    // MARK: The table

    @Test func `guests are limited in all and per account, and make room when they leave`() throws {
        var table = GuestTable(.init(maximumGuests: 3, maximumPerAccount: 2))
        let guests = guests(5)
        try table.enter(guests[0], toCall: alice)
        try table.enter(guests[1], toCall: alice)
        #expect(throws: RegistrationError.limitOfGuests) { try table.enter(guests[2], toCall: alice) }
        try table.enter(guests[2], toCall: bob)
        #expect(throws: RegistrationError.limitOfGuests) { try table.enter(guests[3], toCall: bob) }
        #expect(table.account(of: guests[1]) == alice)
        #expect(table.account(of: guests[3]) == nil)
        table.leave(guests[1])
        table.leave(guests[1])
        #expect(table.account(of: guests[1]) == nil)
        try table.enter(guests[3], toCall: alice)
        #expect(throws: RegistrationError.limitOfGuests) { try table.enter(guests[4], toCall: bob) }
        for guest in guests { table.leave(guest) }
        #expect(table == GuestTable(.init(maximumGuests: 3, maximumPerAccount: 2)), "nothing is left of those who left")
    }

    // MARK: Their registration

    private func registration(of guest: GuestID) -> Registration {
        let configuration = Registration.Configuration().forGuests(maximumExpires: .seconds(300))
        return Registration(user: UserAddress(guest), configuration: configuration, firstRequest: 1)
    }

    @Test func `a guest is granted callMe for a short time, once, and has one call at a time`() throws {
        var registration = registration(of: guests(1)[0])
        var random = SeededRandomSource(seed: 6)
        let now = Moment(MonotonicTime(nanoseconds: 1), epochMilliseconds: 0)
        let wish = SubscriptionRequest(expires: .seconds(86_400), services: ["callMe", "call", "quality"])
        let (grant, _) = try registration.subscribe(wish, as: SubscriptionIdentity(random: &random), at: now)
        #expect(grant.services == ["callMe"])
        #expect(grant.isPartial)
        #expect(grant.expires == .seconds(300))
        #expect(throws: RegistrationError.limitOfSubscriptions(1)) {
            try registration.subscribe(wish, as: SubscriptionIdentity(random: &random), at: now)
        }
        let (first, second) = (
            LegAddress(call: CallID(1), leg: .caller),
            LegAddress(call: CallID(2), leg: .caller)
        )
        #expect(registration.attach(SessionID("A1"), to: first) == [Device(grant.subscription)])
        #expect(registration.attach(SessionID("A2"), to: second).isEmpty)
        #expect(
            registration.attach(SessionID("A1"), to: second) == [Device(grant.subscription)],
            "the same leg can move to another call")
        registration.detach(SessionID("A1"))
        #expect(registration.attach(SessionID("A2"), to: second) == [Device(grant.subscription)])
    }

    @Test func `a guest that wants to be called is refused`() {
        var registration = registration(of: guests(1)[0])
        var random = SeededRandomSource(seed: 7)
        #expect(throws: RegistrationError.unsupportedServices(["call"])) {
            try registration.subscribe(
                SubscriptionRequest(services: ["call"]), as: SubscriptionIdentity(random: &random),
                at: Moment(MonotonicTime(nanoseconds: 1), epochMilliseconds: 0))
        }
        #expect(registration.isIdle)
    }
}
