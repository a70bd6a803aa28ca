import Foundation
import GRDB
import Logging
import Testing

@testable import Storage

/// How the journal of the last process is read.
@Suite struct `Reading of the journal` {
    @Test func `no table is read once for each row of another`() throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }  // what stays lies in the temporary folder
        let path = folder.appending(path: "users.sqlite").path
        let gateway = try GatewayDatabase(.file(path), logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() })
        try withExtendedLifetime(gateway) {
            let plan = try DatabaseQueue(path: path).read { database in
                try Row.fetchAll(database, sql: "EXPLAIN QUERY PLAN \(JournalReader.callsQuery)", arguments: [0])
            }
            // Steps with the same parent run one within the other, if both read a table.
            let scans = Dictionary(grouping: plan.filter { ($0["detail"] as String).hasPrefix("SCAN") }) {
                $0["parent"] as Int
            }
            #expect(!scans.isEmpty && scans.values.allSatisfy { $0.count == 1 }, "\(plan)")
        }
    }
}
