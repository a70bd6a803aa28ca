import Foundation
import PushClient
import Testing

@Suite struct `The accounts of apps` {
    private let folder = FileManager.default.temporaryDirectory.appending(path: "apps-\(UUID().uuidString)")
    private let app = "com.example.app"
    private var file: URL { folder.appending(path: app + ".json") }
    private static let content = #"{"google": {"accountFile": "/keys/shop.json"}}"#

    /// Writes the file, always at the same time: no state of it differs from another in its time.
    private func write(_ content: String) throws {
        if FileManager.default.fileExists(atPath: file.path) {
            let handle = try FileHandle(forWritingTo: file)
            try handle.truncate(atOffset: 0)
            try handle.write(contentsOf: Data(content.utf8))
            try handle.close()
        } else {
            try Data(content.utf8).write(to: file)
        }
        try FileManager.default.setAttributes(
            [.modificationDate: Date(timeIntervalSince1970: 1_700_000_000)], ofItemAtPath: file.path)
    }

    @Test func `a file that could not be used is read again although nothing tells that it has changed`() throws {
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        var accounts = AppAccounts(.init(folder: folder.path))
        let broken = "{" + String(repeating: " ", count: Self.content.utf8.count - 1)
        try write(broken)
        #expect(accounts.refresh().count == 1)
        #expect(throws: CredentialProblem.self) { try accounts.accounts(of: app) }
        #expect(accounts.refresh() == [], "it is told once")
        try write(Self.content)
        #expect(accounts.refresh() == [])
        #expect(try accounts.accounts(of: app)?.google?.accountPath == "/keys/shop.json")
        // One that is in use is read when it has changed.
        try write(broken)
        #expect(accounts.refresh() == [])
        try write("{}")
        #expect(accounts.refresh().count == 1)
        #expect(try accounts.accounts(of: app)?.google?.accountPath == "/keys/shop.json")
    }

    @Test func `no app has the accounts of the gateway before it is known which have their own`() throws {
        var accounts = AppAccounts(.init(folder: folder.path))
        let problem = CredentialProblem.unusable("\(folder.path) cannot be read")
        #expect(accounts.refresh() == [problem])
        #expect(accounts.refresh() == [], "it is told once")
        #expect(throws: problem) { try accounts.accounts(of: app) }
        #expect(AppAccounts.count(in: folder.path) == 0)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try write(Self.content)
        #expect(AppAccounts.count(in: folder.path) == 1)
        #expect(accounts.refresh() == [])
        #expect(try accounts.accounts(of: app)?.google?.accountPath == "/keys/shop.json")
        #expect(try accounts.accounts(of: "com.example.other") == nil)
        try FileManager.default.removeItem(at: folder)
        #expect(accounts.refresh() == [problem])
        #expect(try accounts.accounts(of: app) != nil)
        #expect(try accounts.accounts(of: "com.example.other") == nil)
    }
}
