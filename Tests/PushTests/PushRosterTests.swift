import Primitives
import Push
import TestSupport
import Testing

/// Which registrations there are, and which of them make room for others.
@Suite struct `The roster of registrations` {
    private var roster = PushRoster(limit: 3)

    private static func google(
        _ token: String, of user: String = "alice@example.com", id: String = "new", correlator: String? = nil
    ) throws -> PushRegistration {
        try PushRegistration(
            id: id, user: user, bundleID: "com.example.app", realm: "default", services: ["call"],
            clientCorrelator: correlator, target: .google(token: Redacted(token)))
    }

    private static func apple(
        voip: String?, standard: String?, of user: String = "alice@example.com", id: String
    ) throws -> PushRegistration {
        try PushRegistration(
            id: id, user: user, bundleID: "com.example.app", realm: "default", services: ["call"],
            clientCorrelator: nil,
            target: .apple(
                .init(voip: voip.map { Redacted($0) }, standard: standard.map { Redacted($0) }, isProduction: false)))
    }

    private static func webhook(_ url: String, of user: String, id: String, correlator: String?) throws
        -> PushRegistration
    {
        try PushRegistration(
            id: id, user: user, bundleID: "com.example.app", realm: "default", services: ["call"],
            clientCorrelator: correlator, target: .webhook(url: url))
    }

    private func ids(of user: String = "alice@example.com") -> [String] {
        roster.registrations(of: user).map(\.registration.id)
    }

    @Test mutating func `a device that names itself keeps its registration when its token changes`() throws {
        let first = roster.register(try Self.google("t1", id: "d1", correlator: "phone"), account: 1, at: 10)
        let second = roster.register(try Self.google("t2", id: "d2", correlator: "phone"), account: 1, at: 20)
        #expect(first.id == "d1" && second.id == "d1")
        #expect(ids() == ["d1"])
        #expect(roster.registrations(of: "alice@example.com")[0].registration.target == .google(token: Redacted("t2")))
        // The old token is nobody's any more.
        let other = roster.register(
            try Self.google("t1", of: "bob@example.com", id: "d3"), account: 2, at: 30)
        #expect(other.changes.count == 1)
        #expect(ids() == ["d1"])
    }

    @Test mutating func `a token belongs to the user who registered it last`() throws {
        _ = roster.register(try Self.google("t", id: "d1", correlator: "phone"), account: 1, at: 10)
        let (id, changes) = roster.register(
            try Self.google("t", of: "bob@example.com", id: "d2", correlator: "phone"), account: 2, at: 20)
        #expect(id == "d2")
        #expect(changes.first == .removed(id: "d1", user: "alice@example.com"))
        #expect(ids().isEmpty && ids(of: "bob@example.com") == ["d2"])
        #expect(roster.count == 1 && Array(roster.users) == ["bob@example.com"])
    }

    @Test mutating func `either of Apple's tokens is enough, in any case of letters`() throws {
        _ = roster.register(try Self.apple(voip: "AB12", standard: "CD34", id: "d1"), account: 1, at: 10)
        #expect(
            roster.register(try Self.apple(voip: "ab12", standard: nil, id: "d2"), account: 1, at: 20).id == "d1")
        _ = roster.register(try Self.apple(voip: nil, standard: "cd34", id: "d3"), account: 1, at: 30)
        // The first one has given its standard token up.
        #expect(ids() == ["d1", "d3"])
        let both = roster.register(try Self.apple(voip: "ab12", standard: "cd34", id: "d4"), account: 1, at: 40)
        #expect(both.id == "d1" && both.changes.first == .removed(id: "d3", user: "alice@example.com"))
        #expect(ids() == ["d1"])
    }

    @Test mutating func `the URL of an app is not one device's`() throws {
        let url = "https://push.example.com/"
        for (user, id, correlator) in [("a@x", "d1", "one"), ("a@x", "d2", "two"), ("b@x", "d3", nil)] {
            _ = roster.register(
                try Self.webhook(url, of: user, id: id, correlator: correlator), account: 1, at: 10)
        }
        #expect(ids(of: "a@x") == ["d1", "d2"] && ids(of: "b@x") == ["d3"])
        let again = roster.register(try Self.webhook(url, of: "b@x", id: "d4", correlator: nil), account: 1, at: 20)
        #expect(again.id == "d3")
    }

    @Test mutating func `the registration that is oldest makes room`() throws {
        for (number, time) in zip(1...3, [30, 10, 20] as [UInt64]) {
            _ = roster.register(try Self.google("t\(number)", id: "d\(number)"), account: 1, at: time)
        }
        let (_, changes) = roster.register(try Self.google("t4", id: "d4"), account: 1, at: 40)
        #expect(changes.first == .removed(id: "d2", user: "alice@example.com"))
        #expect(ids() == ["d1", "d3", "d4"])
        // One that is known needs no room.
        _ = roster.register(try Self.google("t3", id: "d5"), account: 1, at: 50)
        #expect(ids() == ["d1", "d3", "d4"])
    }

    @Test mutating func `only its user changes and removes a registration, at its own provider`() throws {
        _ = roster.register(try Self.google("t", id: "d1"), account: 1, at: 10)
        #expect(roster.update(try Self.google("u", of: "bob@example.com", id: "d1"), account: 2, at: 20) == nil)
        #expect(roster.update(try Self.apple(voip: "ab", standard: nil, id: "d1"), account: 1, at: 20) == nil)
        #expect(roster.update(try Self.google("u", id: "d9"), account: 1, at: 20) == nil)
        #expect(roster.remove("d1", of: "bob@example.com") == nil)
        #expect(roster.remove("d1", of: "alice@example.com", at: .apple) == nil)
        #expect(roster.update(try Self.google("u", id: "d1"), account: 1, at: 20)?.count == 1)
        #expect(roster.registration("d1")?.registration.target == .google(token: Redacted("u")))
        #expect(roster.remove("d1", of: "alice@example.com", at: .google)?.count == 1)
        #expect(roster.count == 0)
    }

    @Test mutating func `an update that takes the token of another registration removes that`() throws {
        _ = roster.register(try Self.google("t", id: "d1"), account: 1, at: 10)
        _ = roster.register(try Self.google("u", of: "bob@example.com", id: "d2"), account: 2, at: 20)
        let changes = try #require(roster.update(try Self.google("u", id: "d1"), account: 1, at: 30))
        #expect(changes.first == .removed(id: "d2", user: "bob@example.com"))
        #expect(ids(of: "bob@example.com").isEmpty)
    }

    @Test mutating func `a dead token ends a registration only if that still has it, and is not newer`() throws {
        let sent = try Self.google("t", id: "d1")
        _ = roster.register(sent, account: 1, at: 100)
        #expect(roster.removeDead(sent, since: 99).isEmpty)
        #expect(roster.removeDead(try Self.google("old", id: "d1"), since: nil).isEmpty)
        #expect(roster.removeDead(try Self.google("t", id: "d2"), since: nil).isEmpty)
        #expect(roster.removeDead(sent, since: 100) == [.removed(id: "d1", user: "alice@example.com")])
        #expect(roster.count == 0)
    }

    @Test mutating func `registrations end with the account, also if another one has its address`() throws {
        _ = roster.register(try Self.google("t", id: "d1"), account: 1, at: 10)
        _ = roster.register(try Self.google("u", of: "bob@example.com", id: "d2"), account: 2, at: 10)
        _ = roster.register(try Self.google("v", of: "eve@example.com", id: "d3"), account: nil, at: 10)
        let present: [String: Int64] = ["alice@example.com": 7, "bob@example.com": 2, "eve@example.com": 3]
        let changes = roster.removeAll(of: Array(roster.users)) { present[$0] }
        #expect(changes == [.removed(id: "d1", user: "alice@example.com")])
        #expect(roster.removeAll(of: ["bob@example.com"]) { _ in nil }.count == 1)
    }

    /// What is kept and what is known are the same, whatever happens.
    @Test(arguments: 1...20 as ClosedRange<UInt64>)
    func `the next process finds what this one had`(_ seed: UInt64) throws {
        var random = SeededRandomSource(seed: seed)
        func draw(_ count: UInt64) -> Int { Int(random.next() % count) }
        var roster = PushRoster(limit: 3)
        var kept: [String: StoredPushRegistration] = [:]
        for time in 0..<200 {
            let user = "u\(draw(3))@example.com"
            let correlator = draw(2) == 0 ? nil : "c\(draw(3))"
            let registration: PushRegistration =
                switch draw(3) {
                case 0: try Self.google("t\(draw(5))", of: user, id: "d\(time)", correlator: correlator)
                case 1:
                    try Self.apple(voip: "a\(draw(4))", standard: "b\(draw(4))", of: user, id: "d\(time)")
                default: try Self.webhook("https://x/\(draw(2))", of: user, id: "d\(time)", correlator: correlator)
                }
            let changes: [PushRoster.Change]
            switch draw(4) {
            case 0:
                let id = kept.keys.sorted().first
                changes = id.flatMap { roster.remove($0, of: nil) } ?? []
            case 1:
                let id = kept.keys.sorted().last ?? "none"
                changes = roster.update(registration.named(id), account: 1, at: UInt64(time)) ?? []
            default: changes = roster.register(registration, account: 1, at: UInt64(time)).changes
            }
            for change in changes {
                switch change {
                case .registered(let stored): kept[stored.registration.id] = stored
                case .removed(let id, let user):
                    #expect(kept.removeValue(forKey: id)?.registration.user == user)
                }
            }
            let known = roster.users.flatMap { roster.registrations(of: $0) }
            #expect(Dictionary(uniqueKeysWithValues: known.map { ($0.registration.id, $0) }) == kept)
            #expect(roster.users.allSatisfy { roster.registrations(of: $0).count <= 3 })
            var restored = PushRoster(limit: 3)
            restored.restore(Array(kept.values))
            #expect(restored.count == roster.count)
            // A token that was registered is found in both, by the same name.
            if let last = known.last?.registration {
                var (first, second) = (roster, restored)
                #expect(
                    first.register(last.named("x"), account: 1, at: 999).id
                        == second.register(last.named("x"), account: 1, at: 999).id)
            }
        }
    }
}
