package import CallRuntime
import GatewayAPI
import Cryptography
import Foundation
package import Primitives

/// Tokens, and the audit log.
extension AdminResponder {
    static let tokenFields = ["name", "role", "expiresAt"]

    func listTokens(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let page = try PageRequest(call.parameters, of: .listTokens, parts: 1)
        var read = try await storing { () async throws(StorageError) in try await repository.adminTokens() }
        if let after = page.after { read.removeAll { $0.name <= after[0] } }
        return .json(Page(read.prefix(page.limit + 1).map { TokenField($0) }, page, of: .listTokens) { [$0.name] })
    }

    func addToken(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let fields = try BodyFields(parsing: call.body, known: Set(Self.tokenFields))
        let now = clock.epochMilliseconds
        var random = SecureRandomSource()
        let (token, stored) = try AdminToken.make(
            name: fields.requiredText("name"), role: fields.requiredText("role"),
            expiresAt: fields.number("expiresAt", in: now...253_402_300_799_000), at: now, by: call.caller.name,
            random: &random)
        let isNew = try await storing { () async throws(StorageError) in try await repository.addAdminToken(stored) }
        guard isNew else { throw AdminError(.tokenExists, "There is a token named \(stored.name) already.") }
        return .json(TokenField(stored, token: token.text.value), status: 201)
    }

    func revokeToken(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let name = call.values["name"] ?? ""
        let was = try await storing { () async throws(StorageError) in try await repository.removeAdminToken(name) }
        guard was else { throw AdminError(.tokenNotFound, "There is no token of this name.") }
        return .json(["revoked": name])
    }

    func listAudit(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let page = try PageRequest(call.parameters, of: .listAudit, parts: 1)
        let entries = try await storing { () async throws(StorageError) in
            try await repository.audit(
                before: page.after.flatMap { Int64($0[0]) }, who: call.parameters["who"], limit: page.limit + 1)
        }
        return .json(Page(entries.map(AuditField.init), page, of: .listAudit) { ["\($0.number)"] })
    }
}

extension AdminToken {
    /// Makes a token, and what is stored of it.
    ///
    /// - Parameters:
    ///   - expiresAt: milliseconds since 1970; `nil`: never.
    ///   - now: milliseconds since 1970.
    ///   - maker: who makes it, for the record.
    /// - Throws: `request.invalid_value`.
    package static func make(
        name: String, role word: String, expiresAt: Int64?, at now: Int64, by maker: String,
        random: inout some RandomSource
    ) throws(AdminError) -> (token: AdminToken, stored: StoredAdminToken) {
        let isNameUsable =
            (1...64).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                byte.isASCIIAlphanumeric || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ".")].contains(byte)
            }
        guard isNameUsable else {
            throw AdminError(
                .requestInvalidValue, "The name of a token has 1 to 64 letters, digits and any of \"-\", \"_\", \".\".")
        }
        guard let role = AdminRole(rawValue: word) else {
            let roles = AdminRole.allCases.map(\.rawValue).joined(separator: ", ")
            throw AdminError(.requestInvalidValue, "The role must be one of \(roles).")
        }
        let token = AdminToken(random: &random)
        let stored = StoredAdminToken(
            name: name, digest: token.digest, role: role, createdAt: now, createdBy: maker, expiresAt: expiresAt)
        return (token, stored)
    }
}

extension UInt8 {
    fileprivate var isASCIIAlphanumeric: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}

/// A token as it is shown.
struct TokenField: Encodable, Equatable, Sendable {
    var name: String
    var role: String
    var createdAt: Int64
    var createdBy: String
    var expiresAt: Int64?
    /// The token itself, once.
    var token: String?

    init(_ stored: StoredAdminToken, token: String? = nil) {
        name = stored.name
        role = stored.role.rawValue
        createdAt = stored.createdAt
        createdBy = stored.createdBy
        expiresAt = stored.expiresAt
        self.token = token
    }
}

/// An entry of the audit log as it is shown.
struct AuditField: Encodable, Equatable, Sendable {
    var number: Int64
    var time: Int64
    var who: String
    var role: String
    var operation: String
    var target: String
    var status: Int?
    var result: String?

    init(_ entry: AuditEntry) {
        number = entry.number
        time = entry.time
        who = entry.who
        role = entry.role.rawValue
        operation = entry.operation
        target = entry.target
        status = entry.status
        result = entry.result
    }
}
