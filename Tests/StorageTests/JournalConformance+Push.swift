import CallControl
import CallRuntime
import CallSupport
import Primitives
import Push
import Registration
import Testing

/// What devices register for push, and what they are owed.
extension JournalConformance {
    static func pushRegistration(
        _ id: String, _ target: PushRegistration.Target, account: Int64?, correlator: String? = nil
    ) throws -> StoredPushRegistration {
        StoredPushRegistration(
            try PushRegistration(
                id: id, user: "alice@example.com", bundleID: "com.example.app", realm: "défaut",
                services: ["call", "gone"], clientCorrelator: correlator, target: target),
            account: account, time: 1_700_000_000_000)
    }

    static func owedPush(_ name: String, _ occasion: OwedPush.Occasion) -> OwedPush {
        OwedPush(
            name: name, user: alice, device: PushDeviceID("d-\(name)"), occasion: occasion,
            madeAt: 1_700_000_000_000, expiresAt: 1_700_000_030_000)
    }

    private static func targets() -> [PushRegistration.Target] {
        [
            .apple(.init(voip: Redacted("ab12"), standard: nil, isProduction: true)),
            .apple(.init(voip: nil, standard: Redacted("cd34"), isProduction: false)),
            .google(token: Redacted("a:b")), .webhook(url: "https://push.example.com/"),
        ]
    }

    /// A journal beside an account of Alice.
    private func openedWithAccount() async throws -> Opened {
        let opened = try open()
        try await opened.users.add(StoredUser(address: Self.alice, passwordRecord: ""))
        _ = try await opened.contents()
        return opened
    }

    func `registrations for push are found as they were last, and end with the account`() async throws {
        let first = try await openedWithAccount()
        let account = try #require(try await first.users.user(Self.alice)?.identity.rawValue)
        var kept = try Self.targets().enumerated().map {
            try Self.pushRegistration("d\($0)", $1, account: account, correlator: $0 == 0 ? nil : "phone \($0)")
        }
        first.journal.append(kept.map { .pushRegistration(.registered($0)) })
        kept[1] = try Self.pushRegistration("d1", .google(token: Redacted("new")), account: nil)
        first.journal.append([
            .pushRegistration(.registered(kept[1])),
            .pushRegistration(.removed(id: "d2", user: "alice@example.com")),
            // Of an account that has been followed by another, and of nobody.
            .pushRegistration(
                .registered(try Self.pushRegistration("d7", Self.targets()[0], account: account &+ 1))),
        ])
        kept.remove(at: 2)
        try await first.journal.durable()
        try first.abandon()
        let second = try open()
        #expect(Set(try await second.contents().pushRegistrations) == Set(kept))
        try await second.users.remove(Self.alice)
        #expect(try await second.contents().pushRegistrations.isEmpty)
        // A registration that arrives after the account has gone holds nothing up.
        second.journal.append(.pushRegistration(.registered(kept[0])))
        try await second.journal.durable()
        #expect(try await second.contents().pushRegistrations.isEmpty)
        try second.abandon()
    }

    func `pushes that are owed are found in order until they are settled, or the account is gone`() async throws {
        let first = try await openedWithAccount()
        let pushes = [
            Self.owedPush("c", .call(Self.event(2))), Self.owedPush("a", .call(Self.event(3))),
            Self.owedPush("b", .callOver(Self.event(4), hasVideo: true, .answeredElsewhere)),
            Self.owedPush("g", .gone(ChannelID("channel"))), Self.owedPush("r", .refresh),
            Self.owedPush("m", .messageWaiting(VoicemailCount(unheard: 1, heard: 2))),
        ]
        first.journal.append(pushes.map { .push($0) })
        first.journal.append([.push(pushes[0]), .pushSettled("a"), .pushSettled("none")])
        try await first.journal.durable()
        try first.abandon()
        let second = try open()
        #expect(try await second.contents().owedPushes == [pushes[0]] + pushes[2...])
        try await second.users.remove(Self.alice)
        #expect(try await second.contents().owedPushes.isEmpty)
        try second.abandon()
    }

    func `the presence of a user who was removed is kept for those who were told it`() async throws {
        let opened = try await openedWithAccount()
        let count = VoicemailCount(unheard: 1, heard: 0)
        let presence = StoredPresence(Presence(.open))
        opened.journal.append([
            .registration(.service(.presence(presence, of: Self.alice))),
            .registration(.service(.voicemail(count, of: Self.alice))),
        ])
        try await opened.journal.durable()
        try await opened.users.remove(Self.alice)
        let services = try await opened.contents().services
        #expect(services.presence == [Self.alice: presence] && services.voicemail.isEmpty)
        try opened.abandon()
    }
}
