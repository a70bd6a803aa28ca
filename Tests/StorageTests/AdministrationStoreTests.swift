import CallRuntime
import Logging
import Testing

import Storage

@Suite struct AdministrationStoreTests {
    private let store: AdministrationStore

    init() throws {
        store = try GatewayDatabase(.temporary, logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
            .administration
    }

    // MARK: Tokens

    @Test func `a token is found by its digest until it is revoked`() async throws {
        let token = StoredAdminToken(
            name: "ops", digest: [1, 2, 3], role: .operator, createdAt: 5, createdBy: "root", expiresAt: 9)
        #expect(try await store.addAdminToken(token))
        var other = token
        other.digest = [4]
        #expect(try await !store.addAdminToken(other), "the name is taken")
        #expect(try await store.adminToken([1, 2, 3]) == token)
        #expect(try await store.adminToken([4]) == nil)
        #expect(try await store.adminTokens() == [token])
        #expect(try await store.removeAdminToken("ops"))
        #expect(try await !store.removeAdminToken("ops"))
        #expect(try await store.adminToken([1, 2, 3]) == nil)
    }

    // MARK: Audit log

    private func entry(_ time: Int64, _ who: String = "ops") -> AuditEntry {
        AuditEntry(time: time, who: who, role: .admin, operation: "addUser", target: "alice@example.com")
    }

    @Test func `an entry is there before its outcome is`() async throws {
        let number = try await store.addAudit(entry(1), limits: AuditLimits())
        #expect(try await store.audit(before: nil, who: nil, limit: 9).map(\.status) == [nil])
        try await store.finishAudit(number, status: 201, result: "done")
        var expected = entry(1)
        (expected.number, expected.status, expected.result) = (number, 201, "done")
        #expect(try await store.audit(before: nil, who: nil, limit: 9) == [expected])
    }

    @Test func `entries come latest first, in pages, and of one asker`() async throws {
        for time in 1...5 {
            _ = try await store.addAudit(entry(Int64(time), time == 3 ? "mon" : "ops"), limits: .init())
        }
        let first = try await store.audit(before: nil, who: nil, limit: 2)
        #expect(first.map(\.time) == [5, 4])
        #expect(try await store.audit(before: first.last?.number, who: nil, limit: 9).map(\.time) == [3, 2, 1])
        #expect(try await store.audit(before: nil, who: "mon", limit: 9).map(\.time) == [3])
    }

    @Test func `the log is bounded by count and age, and numbers are not used again`() async throws {
        var limits = AuditLimits()
        limits.count = 3
        for time in 1...5 { _ = try await store.addAudit(entry(Int64(time)), limits: limits) }
        #expect(try await store.audit(before: nil, who: nil, limit: 9).map(\.time) == [5, 4, 3])
        limits.age = .seconds(1)
        let number = try await store.addAudit(entry(10_000), limits: limits)
        #expect(try await store.audit(before: nil, who: nil, limit: 9).map(\.time) == [10_000])
        #expect(number == 6)
    }

    // MARK: Idempotency

    private func reserve(
        _ fingerprint: [UInt8] = [1], key: UInt8 = 7, process: String = "p1", at now: Int64 = 0
    ) async throws -> KeyReservation {
        try await store.reserve(
            key: [key], fingerprint: fingerprint, process: process, of: nil, at: now, age: .seconds(60), limit: 3)
    }

    @Test func `of too many keys the oldest are forgotten`() async throws {
        for key in 1...4 as ClosedRange<UInt8> { #expect(try await reserve(key: key, at: Int64(key)) == .reserved) }
        for key in 2...4 as ClosedRange<UInt8> { #expect(try await reserve(key: key, at: 5) == .inProgress) }
        #expect(try await reserve(key: 1, at: 6) == .reserved)
    }

    @Test func `room is made for one in a hundred keys at a time, and never by the newest`() async throws {
        func reserve(_ key: UInt16, at now: Int64) async throws -> KeyReservation {
            try await store.reserve(
                key: [UInt8(key >> 8), UInt8(key & 0xFF)], fingerprint: [1], process: "p1", of: nil, at: now,
                age: .seconds(60), limit: 200)
        }
        for key in 0...200 as ClosedRange<UInt16> { #expect(try await reserve(key, at: Int64(key)) == .reserved) }
        for key in 3...200 as ClosedRange<UInt16> { #expect(try await reserve(key, at: 200) == .inProgress, "\(key)") }
        #expect(try await reserve(2, at: 0) == .reserved)
        // Most of those that are left are newer.
        for key in 300...303 as ClosedRange<UInt16> {
            #expect(try await reserve(key, at: 0) == .reserved)
            #expect(try await reserve(key, at: 0) == .inProgress)
        }
    }

    @Test func `keys from before and after their time are forgotten, those of others are not`() async throws {
        #expect(try await reserve(key: 1, at: 100_000) == .reserved)
        #expect(try await reserve([2], key: 1, at: 160_000) == .ofAnotherRequest)
        #expect(try await reserve([2], key: 1, at: 160_001) == .reserved)
        #expect(try await reserve([3], key: 1, at: 100_001) == .ofAnotherRequest)
        #expect(try await reserve([3], key: 1, at: 100_000) == .reserved, "the clock was set back")
    }

    @Test func `a key is of one request, whose answer is given again`() async throws {
        #expect(try await reserve() == .reserved)
        #expect(try await reserve() == .inProgress)
        #expect(try await reserve([2]) == .ofAnotherRequest)
        let answer = KeptAnswer(status: 201, contentType: "application/json", body: [1, 2])
        try await store.keep(answer, for: [7])
        #expect(try await reserve() == .answered(answer))
        #expect(try await reserve(process: "p2") == .answered(answer), "another process gives it, too")
        #expect(try await reserve([2]) == .ofAnotherRequest)
    }

    @Test func `a reservation is given up, taken over from a process that ended, or forgotten with time`() async throws
    {
        #expect(try await reserve() == .reserved)
        try await store.keep(nil, for: [7])
        #expect(try await reserve() == .reserved)
        #expect(try await reserve(process: "p2") == .reserved)
        try await store.keep(KeptAnswer(status: 200, contentType: "", body: []), for: [7])
        #expect(try await reserve([2], at: 60_001) == .reserved)
    }
}
