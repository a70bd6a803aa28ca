import CallControl
import CallSupport
import Primitives
import Registration
import Testing

/// What the apps of devices that are asleep are told by silent pushes.
@Suite struct `Silent pushes` {
    private var rig = RegistrationRig()

    private func pushes(_ actions: [RegistrationAction]) -> [SilentPush] {
        actions.compactMap { if case .push(let push) = $0 { push } else { nil } }
    }

    private func gone(_ number: Int, _ correlator: String) -> SilentPush {
        SilentPush(
            .gone(SubscriptionID("s\(number)"), ChannelID("c\(number)")), to: .device(clientCorrelator: correlator))
    }

    private func refresh(_ number: Int, _ correlator: String, _ seconds: Int) -> SilentPush {
        SilentPush(
            .refresh(SubscriptionID("s\(number)")), to: .device(clientCorrelator: correlator),
            useTime: .seconds(seconds))
    }

    @Test mutating func `a device without a channel is reminded once, and told the end`() throws {
        try rig.subscribe(expires: .seconds(100), correlator: "phone")
        #expect(pushes(rig.advance(by: .seconds(74))).isEmpty)
        // 25 s of the life time are left, and 5 s of grace.
        #expect(pushes(rig.advance(by: .seconds(1))) == [refresh(1, "phone", 30)])
        #expect(pushes(rig.advance(by: .seconds(29))).isEmpty)
        #expect(pushes(rig.advance(by: .seconds(1))) == [gone(1, "phone")])
        #expect(pushes(rig.advance(by: .seconds(100))).isEmpty)
    }

    @Test mutating func `a device is reminded again after it has extended`() throws {
        try rig.subscribe(expires: .seconds(100), correlator: "phone")
        #expect(pushes(rig.advance(by: .seconds(75))).count == 1)
        _ = try rig.extend(1, expires: .seconds(60))
        #expect(pushes(rig.advance(by: .seconds(44))).isEmpty)
        #expect(pushes(rig.advance(by: .seconds(1))) == [refresh(1, "phone", 20)])
    }

    @Test mutating func `a device with an open channel is told over it`() throws {
        try rig.subscribe(expires: .seconds(100), correlator: "phone")
        _ = try rig.open(1, on: 1)
        #expect(pushes(rig.advance(by: .seconds(75))).isEmpty)
        #expect(pushes(rig.advance(by: .seconds(30))).isEmpty)
        // A channel that has closed is not open any more.
        try rig.subscribe(expires: .seconds(100), correlator: "phone")
        _ = try rig.open(2, on: 2)
        _ = rig.close(2, on: 2)
        #expect(pushes(rig.advance(by: .seconds(75))).count == 1)
    }

    @Test mutating func `a device without a name for itself cannot be told`() throws {
        try rig.subscribe(expires: .seconds(100))
        #expect(pushes(rig.advance(by: .seconds(75))).isEmpty)
        #expect(pushes(rig.advance(by: .seconds(30))).isEmpty)
    }

    @Test mutating func `the end by an operator is told`() throws {
        try rig.subscribe(correlator: "phone")
        try rig.subscribe(correlator: "laptop")
        _ = try rig.open(2, on: 2)
        let asleep = rig.registration.dismiss("s1", at: rig.now)
        #expect(asleep.map(pushes) == [gone(1, "phone")])
        let awake = rig.registration.dismiss("s2", at: rig.now)
        #expect(awake.map(pushes) == [])
    }

    @Test mutating func `the end that a client of the user has asked for is not told`() throws {
        try rig.subscribe(correlator: "phone")
        let left = try rig.registration.unsubscribe("s1", at: rig.now)
        try rig.subscribe(correlator: "phone")
        let replaced = try rig.subscribe(correlator: "phone").actions
        let loggedOut = try rig.subscribe(forceLogOut: true, correlator: "laptop").actions
        // With the account its registrations for push end.
        let removed = rig.registration.dismiss(at: rig.now)
        #expect([left, replaced, loggedOut, removed].map(pushes) == [[], [], [], []])
    }

    @Test mutating func `numbers of voice messages go to the devices whose channels are closed`() throws {
        try rig.subscribe(correlator: "phone")
        try rig.subscribe(services: ["IM"], correlator: "laptop")
        _ = try rig.open(2, on: 2)
        let count = VoicemailCount(unheard: 1, heard: 2)
        let told = pushes(rig.registration.told(.voicemail(count), at: rig.now))
        #expect(told == [SilentPush(.messageWaiting(count), to: .allBut(["laptop"]))])
        let devices = ["phone", "laptop", nil].map { SleepingDevice(PushDeviceID($0 ?? "-"), clientCorrelator: $0) }
        #expect(told[0].receivers(among: devices).map(\.id.rawValue) == ["phone", "-"])
        #expect(gone(1, "laptop").receivers(among: devices).map(\.id.rawValue) == ["laptop"])
        // One that has just subscribed to events asks, and is told over its channel.
        #expect(pushes(rig.registration.told(.voicemailFor(event: "e", count), at: rig.now)).isEmpty)
    }
}
