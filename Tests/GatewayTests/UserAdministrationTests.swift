import Foundation
import Testing

import Gateway

@Suite struct UserAdministrationTests {
    private typealias Refusal = UserAdministration.Refusal

    private func withUsers(_ body: (UserAdministration) async throws -> Void) async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "users-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: false)
        defer { #expect(throws: Never.self) { try FileManager.default.removeItem(at: folder) } }
        let override = ConfigurationLoader.Override(
            path: "storage.path", value: folder.appending(path: "u.sqlite").path, flag: "--set")
        let users = try UserAdministration(try ConfigurationLoader(overrides: [override]).load().configuration)
        try await body(users)
        try users.close()
    }

    @Test func `users are added, listed and removed`() async throws {
        try await withUsers { users in
            try await users.add("Bob@Example.com", password: "x", displayName: "Bob Example")
            try await users.add("sip:alice@example.com", password: "x", displayName: "")
            #expect(try await users.list() == ["alice@example.com", "bob@example.com\tBob Example"])
            try await users.setPassword("y", of: "alice@example.com")
            try await users.remove("alice@example.com")
            #expect(try await users.list() == ["bob@example.com\tBob Example"])
        }
    }

    @Test func `refusals say what to do`() async throws {
        try await withUsers { users in
            try await users.add("alice@example.com", password: "x", displayName: "")
            await #expect(
                throws: Refusal(
                    description: "alice@example.com exists already; `orbweaver user passwd` changes the password")
            ) {
                try await users.add("alice@example.com", password: "x", displayName: "")
            }
            await #expect(
                throws: Refusal(description: "alice is no address; write it in full, such as alice@example.com")
            ) {
                try await users.add("alice", password: "x", displayName: "")
            }
            await #expect(throws: Refusal(description: "there is no user bob@example.com")) {
                try await users.remove("bob@example.com")
            }
            await #expect(throws: Refusal(description: "there is no user bob@example.com")) {
                try await users.setPassword("x", of: "bob@example.com")
            }
        }
    }
}
