import CallControl
import CallSupport
import Primitives
import Registration
import SPiDR
import TestSupport
import Testing

/// Life of a subscription (spidr-wire §3).
struct SubscriptionTests {
    private var rig = RegistrationRig(.init(services: ["call", "presence"], maximumSubscriptions: 3))

    // MARK: Grant

    @Test(
        arguments: [
            (nil, 3_600), (.seconds(1), 60), (.seconds(60), 60), (.seconds(7_200), 7_200),
            (.seconds(1_000_000), 86_400),
        ] as [(Duration?, Int)])
    mutating func `the life time is clamped`(_ wish: Duration?, _ seconds: Int) throws {
        #expect(try rig.subscribe(expires: wish).grant.expires == .seconds(seconds))
        #expect(try rig.extend(1, expires: wish).grant.expires == .seconds(seconds))
    }

    @Test(
        arguments: [
            (nil, 600, 600), (.seconds(10), 600, 60), (.seconds(7_200), 30, 30), (nil, 1, 1),
            (.seconds(1_000_000), 1_000_000, 86_400),
        ] as [(Duration?, Int, Int)])
    mutating func `the life time ends with the credentials, however short they are`(
        _ wish: Duration?, _ longest: Int, _ seconds: Int
    ) throws {
        #expect(try rig.subscribe(expires: wish, longest: .seconds(longest)).grant.expires == .seconds(seconds))
        #expect(try rig.extend(1, expires: wish, longest: .seconds(longest)).grant.expires == .seconds(seconds))
        #expect(try rig.extend(1, expires: .seconds(7_200), longest: nil).grant.expires == .seconds(7_200))
    }

    @Test(arguments: [
        (["call"], ["call"], false),
        (["Call", "Presence"], ["Call", "Presence"], false),
        (["call", "Presence", "IM"], ["call", "Presence"], true),
        (["call", "CALL"], ["call"], false),
    ])
    mutating func `offered services are granted as the client spells them`(
        _ wish: [String], _ granted: [String], _ isPartial: Bool
    ) throws {
        let grant = try rig.subscribe(services: wish).grant
        #expect(grant.services == granted)
        #expect(grant.isPartial == isPartial)
    }

    @Test mutating func `services that the credentials do not allow are refused, also when extending`() throws {
        let grant = try rig.subscribe(services: ["call", "Presence"], allowed: ["call"]).grant
        #expect(grant.services == ["call"])
        #expect(grant.isPartial)
        var request = SubscriptionRequest(services: [])
        request.allowedServices = ["presence"]
        #expect(throws: RegistrationError.unsupportedServices(["call"])) {
            try rig.registration.extend(grant.subscription, request, at: rig.now)
        }
        request.allowedServices = nil
        #expect(try rig.registration.extend(grant.subscription, request, at: rig.now).grant.services == ["call"])
    }

    @Test(arguments: [["IM"], []])
    mutating func `nothing granted is a refusal, and leaves everything as it was`(_ wish: [String]) throws {
        #expect(throws: RegistrationError.unsupportedServices(wish)) { try rig.subscribe(services: wish) }
        #expect(rig.registration.isIdle)
    }

    @Test mutating func `the number of subscriptions is limited, except for who replaces one`() throws {
        try rig.subscribe()
        try rig.subscribe(correlator: "phone")
        try rig.subscribe()
        #expect(throws: RegistrationError.limitOfSubscriptions(3)) { try rig.subscribe() }
        #expect(throws: RegistrationError.limitOfSubscriptions(3)) { try rig.subscribe(correlator: "tablet") }
        try rig.subscribe(correlator: "phone")
        try rig.subscribe(forceLogOut: true)
        try rig.subscribe()
    }

    @Test mutating func `a new subscription has the identity it was given`() throws {
        let (grant, actions) = try rig.subscribe()
        #expect(grant.subscription == "s1")
        #expect(grant.channel == ChannelID("c1"))
        #expect(actions == [.subscriptionsChanged(by: 1)])
    }

    @Test func `drawn identities are long and differ`() {
        var random = SeededRandomSource(seed: 1)
        let (a, b) = (SubscriptionIdentity(random: &random), SubscriptionIdentity(random: &random))
        #expect(a != b)
        // Six bits each.
        #expect(a.channel.rawValue.count * 6 >= 128)
        #expect(a.firstEventID > 0)
    }

    // MARK: Extend and expire

    @Test mutating func `an extended subscription lives on`() throws {
        try rig.subscribe(expires: .seconds(100))
        #expect(rig.registration.nextDeadline == Deadline(rig.clock.now + .seconds(75), .reminder))
        rig.clock.advance(by: .seconds(90))
        _ = try rig.extend(1, expires: .seconds(100))
        #expect(rig.advance(by: .seconds(104)) == [])
        #expect(rig.advance(by: .seconds(1)) == [.subscriptionsChanged(by: -1)])
        #expect(throws: RegistrationError.noSuchSubscription) { try rig.extend(1) }
        #expect(rig.registration.isIdle)
    }

    @Test mutating func `within the grace an expired subscription can be extended`() throws {
        try rig.subscribe(expires: .seconds(60))
        #expect(rig.advance(by: .milliseconds(64_999)) == [])
        _ = try rig.extend(1, expires: .seconds(60))
        #expect(rig.registration.channelExists(ChannelID("c1")))
    }

    @Test mutating func `an expired subscription is gone, and its socket is closed`() throws {
        try rig.subscribe(expires: .seconds(60))
        _ = try rig.open(1, on: 9)
        #expect(
            rig.advance(by: .seconds(65)) == [
                .subscriptionsChanged(by: -1), .transmit(rig.frame(1, 1_000, .gone), to: SocketID(9)),
                .close(SocketID(9), .subscriptionEnded),
            ])
        #expect(!rig.registration.channelExists(ChannelID("c1")))
        #expect(throws: RegistrationError.noSuchSubscription) { try rig.open(1, on: 10) }
    }

    @Test mutating func `a device is found by the name that it gave itself, as long as it is subscribed`() throws {
        try rig.subscribe(correlator: "tablet")
        try rig.subscribe(correlator: "phone")
        #expect(rig.registration.subscription(correlator: "phone") == SubscriptionID("s2"))
        #expect(rig.registration.subscription(correlator: "fax") == nil)
        _ = try rig.registration.unsubscribe(SubscriptionID("s2"), at: rig.now)
        #expect(rig.registration.subscription(correlator: "phone") == nil)
    }

    @Test mutating func `the devices of a removed account are gone at once, and its calls hear it`() throws {
        try rig.subscribe()
        try rig.subscribe()
        _ = try rig.open(1, on: 9)
        let leg = LegAddress(call: CallID(5), leg: .callee)
        _ = rig.registration.attach("A", to: leg)
        let actions = rig.note(rig.registration.dismiss(at: rig.now))
        #expect(
            actions == [
                .subscriptionsChanged(by: -1),
                .inform(leg.call, leg.leg, .left(SubscriptionID("s1"), othersRemain: false)),
                .subscriptionsChanged(by: -1),
                .inform(leg.call, leg.leg, .left(SubscriptionID("s2"), othersRemain: false)),
                .transmit(rig.frame(1, 1_000, .gone), to: SocketID(9)), .close(SocketID(9), .subscriptionEnded),
                .inform(leg.call, leg.leg, .channelsOpen(false)),
            ])
        #expect(!rig.registration.channelExists(ChannelID("c1")))
        #expect(rig.stored.suffix(2).contains(.unsubscribed(SubscriptionID("s2"))))
    }

    @Test mutating func `an operator ends one subscription, and calls stay with the others`() throws {
        try rig.subscribe()
        try rig.subscribe()
        _ = try rig.open(1, on: 9)
        #expect(rig.registration.overview(at: rig.now.monotonic).map(\.isConnected) == [true, false])
        let leg = LegAddress(call: CallID(5), leg: .callee)
        _ = rig.registration.attach("A", to: leg)
        let unknown = rig.registration.dismiss(SubscriptionID("s9"), at: rig.now)
        #expect(unknown == nil)
        let dismissed = rig.registration.dismiss(SubscriptionID("s1"), at: rig.now)
        let actions = rig.note(try #require(dismissed))
        #expect(actions.contains(.inform(leg.call, leg.leg, .left(SubscriptionID("s1"), othersRemain: true))))
        #expect(actions.contains(.transmit(rig.frame(1, 1_000, .gone), to: SocketID(9))))
        #expect(actions.contains(.close(SocketID(9), .subscriptionEnded)))
        #expect(rig.stored.contains(.unsubscribed(SubscriptionID("s1"))))
        #expect(!rig.registration.channelExists(ChannelID("c1")) && rig.registration.channelExists(ChannelID("c2")))
        let again = rig.registration.dismiss(SubscriptionID("s1"), at: rig.now)
        #expect(again == nil)
    }

    @Test mutating func `an extension without services keeps them`() throws {
        try rig.subscribe(services: ["call", "presence"])
        #expect(try rig.extend(1, services: []).grant.services == ["call", "presence"])
        #expect(try rig.extend(1, services: ["presence", "IM"]).grant.services == ["presence"])
        #expect(throws: RegistrationError.unsupportedServices(["IM"])) { try rig.extend(1, services: ["IM"]) }
    }

    // MARK: End

    @Test mutating func `a deleted subscription closes its socket without a word`() throws {
        try rig.subscribe()
        _ = try rig.open(1, on: 9)
        let actions = try rig.registration.unsubscribe("s1", at: rig.now).carriedOut
        #expect(actions == [.subscriptionsChanged(by: -1), .close(SocketID(9), .subscriptionEnded)])
        #expect(throws: RegistrationError.noSuchSubscription) { try rig.registration.unsubscribe("s1", at: rig.now) }
    }

    @Test mutating func `a deleted subscription's socket stays open until the request is answered`() throws {
        try rig.subscribe()
        _ = try rig.open(1, on: 9)
        let request = rig.registration.requestStarted(at: rig.clock.now)
        _ = rig.notify([1], .callEnd)
        #expect(try rig.registration.unsubscribe("s1", at: rig.now).carriedOut == [.subscriptionsChanged(by: -1)])
        #expect(rig.notify([1]) == [], "nothing is added to what has ended")
        #expect(
            rig.registration.requestAnswered(request, at: rig.clock.now).carriedOut == [
                .transmit(rig.frame(1, 1_000, .callEnd), to: SocketID(9)), .close(SocketID(9), .subscriptionEnded),
            ])
    }

    @Test mutating func `forced log-out ends all other subscriptions`() throws {
        try rig.subscribe()
        try rig.subscribe()
        _ = try rig.open(1, on: 9)
        let actions = try rig.subscribe(forceLogOut: true).actions
        #expect(
            actions == [
                .subscriptionsChanged(by: 1), .subscriptionsChanged(by: -1), .subscriptionsChanged(by: -1),
                .transmit(rig.frame(1, 1_000, .gone), to: SocketID(9)), .close(SocketID(9), .subscriptionEnded),
            ])
        #expect(rig.registration.channelExists(ChannelID("c3")))
        #expect(!rig.registration.channelExists(ChannelID("c2")))
    }

    @Test mutating func `the same device again overrides its former subscription`() throws {
        try rig.subscribe(correlator: "phone")
        try rig.subscribe(correlator: "tablet")
        _ = try rig.open(1, on: 9)
        let actions = try rig.subscribe(correlator: "phone").actions
        #expect(
            actions == [
                .subscriptionsChanged(by: 1), .subscriptionsChanged(by: -1),
                .transmit(rig.frame(1, 1_000, .websocketOverridden), to: SocketID(9)),
                .close(SocketID(9), .subscriptionEnded),
            ])
        #expect(rig.registration.channelExists(ChannelID("c2")))
    }

    // MARK: Calls are told

    private mutating func attach(_ session: SessionID = "A1", _ leg: LegID = .caller) -> [Device] {
        rig.registration.attach(session, to: .init(call: CallID(5), leg: leg))
    }

    private func inform(_ change: DeviceChange, _ leg: LegID = .caller) -> RegistrationAction {
        .inform(CallID(5), leg, change)
    }

    @Test mutating func `a request is from the device it names, or from the only one that never did`() throws {
        try rig.subscribe()
        #expect(rig.registration.device(naming: nil)?.subscription == "s1", "there is no other")
        try rig.subscribe(feedback: true)
        #expect(rig.registration.device(naming: nil) == nil, "either may have asked")
        #expect(rig.registration.device(naming: "s2") == Device("s2", sendsRingingFeedback: true))
        #expect(rig.registration.device(naming: nil)?.subscription == "s1", "the other one would have said so")
        #expect(rig.registration.device(naming: "s1")?.subscription == "s1")
        #expect(rig.registration.device(naming: nil) == nil, "both would have")
        #expect(rig.registration.device(naming: "s9") == nil)
        try rig.subscribe(services: ["presence"])
        #expect(rig.registration.device(naming: "s3") == nil, "it is told of no call")
    }

    @Test mutating func `a call attaches to every subscription with the call service`() throws {
        #expect(attach() == [])
        #expect(rig.registration.attachment(of: "A1") == nil)
        try rig.subscribe(feedback: true)
        try rig.subscribe(services: ["presence"])
        try rig.subscribe()
        #expect(attach() == [Device("s1", sendsRingingFeedback: true), Device("s3")])
        #expect(rig.registration.attachment(of: "A1") == .init(call: CallID(5), leg: .caller))
        rig.registration.detach("A1")
        #expect(rig.registration.attachment(of: "A1") == nil)
    }

    @Test mutating func `a user is part of a call as long as any leg is, and engaged by every other call`() throws {
        try rig.subscribe()
        let (first, second) = (CallID(5), CallID(6))
        _ = attach("A1", .caller)
        _ = attach("B1", .callee)
        #expect(rig.registration.isAttached(to: first))
        #expect(!rig.registration.isEngaged(besides: first))
        #expect(rig.registration.isEngaged(besides: second))
        rig.registration.detach("A1")
        rig.registration.detach("A1")
        #expect(rig.registration.isAttached(to: first))
        // The other leg goes over into another call.
        _ = rig.registration.attach("B1", to: .init(call: second, leg: .caller))
        #expect(!rig.registration.isAttached(to: first))
        #expect(rig.registration.isEngaged(besides: first))
        rig.registration.detach("B1")
        #expect(!rig.registration.isAttached(to: second))
        #expect(!rig.registration.isEngaged(besides: first))
    }

    @Test mutating func `every leg of the user hears of a new device`() throws {
        try rig.subscribe()
        _ = attach("A1", .caller)
        _ = attach("B1", .callee)
        let joined = DeviceChange.joined(Device("s2", sendsRingingFeedback: true), replacing: nil)
        #expect(
            try rig.subscribe(feedback: true).actions == [
                .subscriptionsChanged(by: 1), inform(joined), inform(joined, .callee),
            ])
        rig.registration.detach("B1")
        #expect(
            try rig.registration.unsubscribe("s2", at: rig.now).carriedOut == [
                .subscriptionsChanged(by: -1), inform(.left("s2", othersRemain: false)),
            ])
    }

    @Test mutating func `a client that does not extend is reminded once, after three quarters of the life time`() throws
    {
        try rig.subscribe(expires: .seconds(100))
        _ = try rig.open(1, on: 9)
        rig.clock.advance(by: .milliseconds(74_999))
        #expect(rig.registration.timeout(at: rig.now).carriedOut == [])
        #expect(rig.registration.nextDeadline == Deadline(rig.clock.now + .milliseconds(1), .reminder))
        rig.clock.advance(by: .milliseconds(1))
        #expect(
            rig.registration.timeout(at: rig.now).carriedOut == [.transmit(rig.frame(1, 1_000, .ping), to: SocketID(9))]
        )
        _ = rig.confirm(1, through: 1_000)
        rig.clock.advance(by: .seconds(20))
        #expect(rig.registration.timeout(at: rig.now).carriedOut == [], "it has been told")
        // The next life time has a reminder of its own.
        try _ = rig.extend(1, expires: .seconds(100))
        rig.clock.advance(by: .seconds(75))
        #expect(
            rig.registration.timeout(at: rig.now).carriedOut == [.transmit(rig.frame(1, 1_001, .ping), to: SocketID(9))]
        )
    }

    @Test mutating func `a client that extends in time is not reminded, and guests never are`() throws {
        try rig.subscribe(expires: .seconds(100))
        _ = try rig.open(1, on: 9)
        for _ in 0..<3 {
            rig.clock.advance(by: .seconds(50))
            #expect(rig.registration.timeout(at: rig.now).carriedOut == [])
            try _ = rig.extend(1, expires: .seconds(100))
        }
        #expect(!Registration.Configuration().forGuests(maximumExpires: .seconds(300)).remindsToExtend)
    }

    @Test mutating func `calls learn who asks for quality reports, devices of calls or not`() throws {
        rig = RegistrationRig(.init(services: ["call", "quality"]))
        try rig.subscribe(services: ["call", "Quality"])
        _ = attach()
        #expect(rig.registration.qualityReceivers == ["s1"])
        #expect(
            try rig.subscribe(services: ["quality"]).actions == [
                .subscriptionsChanged(by: 1), inform(.qualityReporting(to: ["s1", "s2"])),
            ])
        #expect(try rig.extend(1, services: ["call"]).actions == [inform(.qualityReporting(to: ["s2"]))])
        #expect(
            try rig.registration.unsubscribe("s2", at: rig.now).carriedOut == [
                .subscriptionsChanged(by: -1), inform(.qualityReporting(to: [])),
            ])
    }

    @Test mutating func `a service given up or taken up is a device that leaves or joins`() throws {
        try rig.subscribe(services: ["call", "presence"])
        _ = attach()
        #expect(try rig.extend(1, services: ["call"]).actions == [])
        #expect(try rig.extend(1, services: ["presence"]).actions == [inform(.left("s1", othersRemain: false))])
        #expect(try rig.extend(1, services: ["call"]).actions == [inform(.joined(Device("s1"), replacing: nil))])
    }

    @Test mutating func `a device that subscribes again replaces itself without leaving`() throws {
        try rig.subscribe(correlator: "phone")
        _ = attach()
        #expect(
            try rig.subscribe(correlator: "phone").actions == [
                .subscriptionsChanged(by: 1),
                inform(.joined(Device("s2"), replacing: "s1", clientCorrelator: "phone")),
                .subscriptionsChanged(by: -1),
            ])
        #expect(
            try rig.subscribe(services: ["presence"], correlator: "phone").actions == [
                .subscriptionsChanged(by: 1), .subscriptionsChanged(by: -1), inform(.left("s2", othersRemain: false)),
            ])
    }

    @Test mutating func `what is on its way to a replaced subscription reaches its successor, once`() throws {
        try rig.subscribe(correlator: "phone")
        _ = attach()
        try rig.subscribe(correlator: "phone")
        try rig.subscribe(correlator: "phone")
        _ = try rig.open(3, on: 9)
        #expect(rig.notify([1, 2, 3]) == [.transmit(rig.frame(3, 3_000), to: SocketID(9))])
        rig.registration.detach("A1")
        #expect(rig.notify([1]) == [])
    }

    @Test mutating func `the new device joins before forced ones leave`() throws {
        try rig.subscribe()
        _ = attach()
        #expect(
            try rig.subscribe(forceLogOut: true).actions == [
                .subscriptionsChanged(by: 1), inform(.joined(Device("s2"), replacing: nil)),
                .subscriptionsChanged(by: -1),
                inform(.left("s1", othersRemain: false)),
            ])
    }

    @Test mutating func `a call survives a subscription that merely ran out if another is there`() throws {
        try rig.subscribe(expires: .seconds(60))
        _ = attach()
        try rig.subscribe(expires: .seconds(100))
        #expect(
            rig.advance(by: .seconds(65)) == [.subscriptionsChanged(by: -1), inform(.left("s1", othersRemain: true))])
        #expect(
            rig.advance(by: .seconds(40)) == [.subscriptionsChanged(by: -1), inform(.left("s2", othersRemain: false))])
        #expect(!rig.registration.isIdle, "the leg is still there")
        rig.registration.detach("A1")
        #expect(rig.registration.isIdle)
    }
}
