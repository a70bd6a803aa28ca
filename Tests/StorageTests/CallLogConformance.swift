import CallControl
import CallRuntime
import CallSupport
import Testing

/// What every call log has to do, wherever it keeps the records. A log passes if no rule records an issue.
struct CallLogConformance {
    /// A call log that is open.
    struct Opened: Sendable {
        var log: any CallLog
        var journal: any Journal
        /// Removes what exceeds the limits, if that is not done at once.
        var keepUp: @Sendable () async -> Void = {}

        func add(_ records: CallLogRecord...) async throws {
            journal.append(records.compactMap { log.add($0) })
            try await journal.durable()
            await keepUp()
        }

        func ids(_ user: UserAddress = alice, from start: Int = 0, count: Int = 100) async throws -> [String] {
            try await log.records(of: user, from: start, count: count).map(\.id.rawValue)
        }

        func remove(_ id: SessionID, of user: UserAddress = alice) async throws -> Bool {
            let wasThere = try await log.remove(id, of: user)
            try await journal.durable()
            return wasThere
        }

        func removeAll(of user: UserAddress = alice) async throws {
            await log.removeAll(of: user)
            try await journal.durable()
        }
    }

    static let alice = UserAddress(parsing: "alice@example.com")!
    static let bob = UserAddress(parsing: "bob@example.com")!

    /// Opens an empty log with so many records for each user, and for all.
    let open: @Sendable (_ perUser: Int, _ all: Int) async throws -> Opened

    static func record(
        _ id: String, of user: UserAddress = alice, isOver: Bool = true, at time: Int64 = 0
    ) -> CallLogRecord {
        CallLogRecord(
            id: SessionID(id), user: user, direction: .outgoing, startedAt: time, endedAt: time + 10,
            caller: .user(DisplayName(name: "", number: "")),
            callee: .user(DisplayName(name: "", number: "")), parties: [],
            ending: isOver ? CallEnding(.ended(.completed(by: .caller, reasonText: nil))) : nil, endedBy: .own,
            timeline: [])
    }

    func `the latest comes first, and parts can be asked for`() async throws {
        let log = try await open(100, 100)
        for number in 0..<5 { try await log.add(Self.record("\(number)")) }
        #expect(try await log.ids() == ["4", "3", "2", "1", "0"])
        #expect(try await log.ids(from: 1, count: 2) == ["3", "2"])
        #expect(try await log.ids(from: 9, count: 2) == [])
        #expect(try await log.ids(Self.bob) == [])
    }

    func `each user has a share, and all together have one; the oldest go first`() async throws {
        let log = try await open(3, 4)
        for number in 0..<5 { try await log.add(Self.record("a\(number)")) }
        #expect(try await log.ids() == ["a4", "a3", "a2"])
        for number in 0..<3 { try await log.add(Self.record("b\(number)", of: Self.bob)) }
        #expect(try await log.ids() == ["a4"])
        #expect(try await log.ids(Self.bob) == ["b2", "b1", "b0"])
    }

    func `without a share nothing is kept`() async throws {
        for log in [try await open(0, 100), try await open(100, 0)] {
            try await log.add(Self.record("a"))
            #expect(try await log.ids() == [])
        }
    }

    func `records are deleted one by one or all`() async throws {
        let log = try await open(10, 3)
        try await log.add(Self.record("a"), Self.record("b"), Self.record("c"))
        #expect(try await log.remove("b"))
        #expect(try await !log.remove("b"))
        #expect(try await !log.remove("a", of: Self.bob), "somebody else's is none")
        #expect(try await log.ids() == ["c", "a"])
        try await log.add(Self.record("d"))
        #expect(try await log.ids() == ["d", "c", "a"], "what was deleted takes no room")
        try await log.removeAll()
        #expect(try await log.ids() == [])
        try await log.add(Self.record("e"))
        #expect(try await log.ids() == ["e"])
    }

    func `a leg that goes on elsewhere is shown once that is over, with the times of both`() async throws {
        let log = try await open(100, 100)
        try await log.add(Self.record("a", isOver: false, at: 100))
        #expect(try await log.ids() == [])
        #expect(try await log.log.record("a", of: Self.alice) == nil)
        #expect(try await !log.remove("a"))
        try await log.removeAll()
        try await log.add(Self.record("b"), Self.record("a", at: 200))
        #expect(try await log.ids() == ["a", "b"])
        let whole = try await log.log.record("a", of: Self.alice)
        #expect(whole?.startedAt == 100 && whole?.endedAt == 210)
    }

    func `however much comes and goes, no more is kept than is to be`() async throws {
        let log = try await open(5, 8)
        for number in 0..<500 {
            try await log.add(
                Self.record("\(number)", of: number % 3 == 0 ? Self.alice : Self.bob, isOver: number % 7 != 0))
            if number % 5 == 0 { try await log.removeAll(of: Self.bob) }
        }
        let (alices, bobs) = try await (log.ids(), log.ids(Self.bob))
        #expect(alices.count <= 5 && bobs.count <= 5 && alices.count + bobs.count <= 8)
        #expect(alices.count >= 3, "no more is removed than has to be")
    }

    static let rules: [(String, @Sendable (Self) async throws -> Void)] = [
        ("order", { try await $0.`the latest comes first, and parts can be asked for`() }),
        ("shares", { try await $0.`each user has a share, and all together have one; the oldest go first`() }),
        ("none", { try await $0.`without a share nothing is kept`() }),
        ("deleted", { try await $0.`records are deleted one by one or all`() }),
        (
            "continued",
            { try await $0.`a leg that goes on elsewhere is shown once that is over, with the times of both`() }
        ),
        ("bounded", { try await $0.`however much comes and goes, no more is kept than is to be`() }),
    ]
}
