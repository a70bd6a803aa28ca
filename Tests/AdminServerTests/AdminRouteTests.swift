import AdminServer
import CallRuntime
import Foundation
import HTTPTypes
import TestSupport
import Testing
import Yams

@Suite struct AdminRouteTests {
    @Test func `a path has the operations of its methods, and the values in it`() throws {
        let route = try AdminRoute(parsing: "/admin/v1/subscriptions/alice%40example.com/s1/")
        #expect(route.operations == [.endSubscription])
        #expect(route.values == ["user": "alice@example.com", "id": "s1"])
        #expect(try route.operation(.delete) == .endSubscription)
        #expect(throws: AdminError(.resourceMethodNotAllowed, "GET is not possible here; use DELETE.")) {
            try route.operation(.get)
        }
        #expect(try AdminRoute(parsing: "/admin/v1/users").allow == "GET, POST")
    }

    @Test(arguments: [
        "/", "/admin/v1", "/admin/v2/users", "/admin/v1/users/a/b", "/rest/version/1/isAlive", "/metrics",
    ])
    func `nothing else is there`(_ path: String) {
        #expect(throws: AdminError.self) { try AdminRoute(parsing: path) }
    }

    @Test func `a broken escape is refused`() {
        let error = #expect(throws: AdminError.self) { try AdminRoute(parsing: "/admin/v1/users/%zz") }
        #expect(error?.code == .requestMalformed)
    }

    /// Every operation that a role may do and the next smaller one may not.
    @Test func `the roles are those that are documented`() {
        func operations(_ role: AdminRole) -> Set<AdminOperation> {
            Set(AdminOperation.allCases.filter { $0.role == role })
        }
        #expect(
            operations(.admin) == [
                .addUser, .changeUser, .removeUser, .importUsers, .exportUsersWithPasswords, .addToken, .revokeToken,
                .addApplication, .changeApplication, .rotateApplicationSecret, .removeApplication,
                .addApplicationKey, .revokeApplicationKey, .addWebhook, .changeWebhook, .rotateWebhookKey,
                .removeWebhook,
            ])
        #expect(
            operations(.operator) == [
                .endSubscription, .endCall, .setLogLevel, .startDrain, .cancelDrain, .setVoicemail, .setRoutes,
                .removePushRegistration, .testPushRegistration, .retryWebhook, .testWebhook,
            ])
        #expect(operations(.readOnly).allSatisfy { $0.method == .get })
        #expect(AdminRole.readOnly < .operator && .operator < .admin)
    }

    // MARK: The description

    private static func description() throws -> [String: Any] {
        let file = Fixtures.root.deletingLastPathComponent().appending(path: "openapi/admin.yaml")
        return try #require(try Yams.load(yaml: String(contentsOf: file, encoding: .utf8)) as? [String: Any])
    }

    @Test func `every operation is described, and nothing else`() throws {
        let paths = try #require(try Self.description()["paths"] as? [String: [String: Any]])
        var described: Set<String> = []
        for (path, methods) in paths {
            for (method, operation) in methods where method != "parameters" {
                let operation = try #require(operation as? [String: Any])
                let name = operation["operationId"] as? String ?? "-"
                let role = operation["x-role"] as? String ?? "-"
                described.insert("\(name) \(method.uppercased()) \(path) \(role)")
            }
        }
        let served = AdminOperation.allCases.map {
            "\($0.rawValue) \($0.method.rawValue) \($0.template) \($0.role.rawValue)"
        }
        #expect(described == Set(served))
    }

    @Test func `code, document and description list the same errors`() throws {
        let components = try #require(try Self.description()["components"] as? [String: [String: Any]])
        let schema = components["schemas"]?["AdminErrorCode"] as? [String: Any]
        #expect(schema?["enum"] as? [String] == AdminErrorCode.allCases.map(\.rawValue))
        let file = Fixtures.root.deletingLastPathComponent().appending(path: "docs/administration.md")
        let rows = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
        for code in AdminErrorCode.allCases {
            #expect(rows.contains { $0.hasPrefix("| `\(code.rawValue)` | \(code.httpStatus) |") }, "\(code.rawValue)")
        }
    }
}
