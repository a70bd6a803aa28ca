import CallControl
package import CallRuntime
import GatewayAPI
import Cryptography
import Foundation

/// Accounts in a file: one JSON object per line, or comma-separated values with a line of names (RFC 4180).
package struct UserFile: Sendable {
    /// How the file is written.
    package enum Format: String, CaseIterable, Sendable {
        /// One JSON object per line.
        case jsonl
        /// Comma-separated values; the first line has the names.
        case csv

        /// The media type.
        package var contentType: String {
            switch self {
            case .jsonl: "application/jsonl"
            case .csv: "text/csv; charset=utf-8; header=present"
            }
        }
    }

    /// An account that was read.
    package struct Draft: Equatable, Sendable {
        /// The line on which it starts, from 1.
        package var line: Int
        /// The account; its password record is empty if there is a ``password``.
        package var account: Account
        /// A password to hash; `nil`: the record was given.
        package var password: String?
    }

    /// The fields of an account, which are the names of JSON members and of columns.
    static let fields = ["address", "displayName", "authName", "enabled", "password", "passwordRecord"]
    /// How many passwords are hashed for one import; records are not limited.
    static let passwordLimit = 1_000

    private let format: Format

    /// Makes a reader and writer.
    package init(format: Format) { self.format = format }

    // MARK: Writing

    /// Writes accounts.
    ///
    /// - Parameter withPasswords: whether the password records are written, too.
    package func write(_ accounts: [Account], withPasswords: Bool) -> [UInt8] {
        switch format {
        case .jsonl:
            return accounts.flatMap { AdminJSON.encode(Row($0, withPasswords: withPasswords)) + [UInt8(ascii: "\n")] }
        case .csv:
            let names = Self.fields.filter { $0 != "password" && (withPasswords || $0 != "passwordRecord") }
            let rows = accounts.map { account in
                let row = Row(account, withPasswords: true)
                return names.map { name in
                    switch name {
                    case "address": row.address
                    case "displayName": row.displayName
                    case "authName": row.authName ?? ""
                    case "enabled": "\(row.enabled)"
                    default: row.passwordRecord ?? ""
                    }
                }
            }
            return Array(CommaSeparated.write([names] + rows).utf8)
        }
    }

    private struct Row: Encodable {
        var address: String
        var displayName: String
        var authName: String?
        var enabled: Bool
        var passwordRecord: String?

        init(_ account: Account, withPasswords: Bool) {
            address = account.user.address.text
            displayName = account.user.displayName
            authName = account.user.authName?.text
            enabled = account.isEnabled
            passwordRecord = withPasswords ? account.user.passwordRecord : nil
        }
    }

    // MARK: Reading

    /// Reads accounts. Each needs an address, and either a password or a password record.
    ///
    /// - Throws: `import.line_invalid` for the first line that cannot be used, or `request.body_missing`.
    package func read(_ bytes: [UInt8]) throws(AdminError) -> [Draft] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw AdminError(.requestMalformed, "The body is not UTF-8.")
        }
        var drafts: [Draft] = []
        var lines: [String: Int] = [:]
        for (line, fields) in try rows(text) {
            do throws(AdminError) {
                let draft = try Self.draft(fields, line: line)
                if let other = lines.updateValue(line, forKey: draft.account.user.address.text) {
                    throw AdminError(.requestInvalidValue, "\(draft.account.user.address) is also on line \(other).")
                }
                drafts.append(draft)
            } catch {
                throw error.inLine(line)
            }
        }
        guard !drafts.isEmpty else { throw AdminError(.requestBodyMissing, "The body holds no users.") }
        let passwords = drafts.lazy.filter { $0.password != nil }.count
        guard passwords <= Self.passwordLimit else {
            throw AdminError(
                .requestInvalidValue,
                "The body holds \(passwords) passwords to hash; at most \(Self.passwordLimit) are taken at once.")
        }
        return drafts
    }

    private func rows(_ text: String) throws(AdminError) -> [(Int, [String: BodyValue])] {
        switch format {
        case .jsonl:
            var rows: [(Int, [String: BodyValue])] = []
            // Bytes are split, since CRLF is one character of a text, and not the one that ends a line.
            let lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
            for (index, line) in lines.map({ Substring($0) }).enumerated() where !line.allSatisfy(\.isWhitespace) {
                guard let fields = try? JSONDecoder().decode([String: BodyValue].self, from: Data(line.utf8)) else {
                    throw AdminError(.requestMalformedJSON, "This is not a JSON object.").inLine(index + 1)
                }
                rows.append((index + 1, fields))
            }
            return rows
        case .csv:
            let records = try CommaSeparated.read(text)
            guard let (_, names) = records.first else { return [] }
            var rows: [(Int, [String: BodyValue])] = []
            for (line, values) in records.dropFirst() {
                guard values.count == names.count else {
                    throw AdminError(
                        .requestInvalidValue, "There are \(values.count) values for \(names.count) names."
                    ).inLine(line)
                }
                var fields: [String: BodyValue] = [:]
                // An empty value is none: a spreadsheet cannot tell the two apart.
                for (name, value) in zip(names, values) where !value.isEmpty {
                    fields[name] =
                        name == "enabled" && ["true", "false"].contains(value)
                        ? .flag(value == "true") : .text(value)
                }
                rows.append((line, fields))
            }
            if let name = names.first(where: { !Self.fields.contains($0) }) {
                throw AdminError(
                    .requestInvalidValue,
                    "The column \"\(name.prefix(64))\" is not known; use \(Self.fields.joined(separator: ", "))."
                ).inLine(1)
            }
            return rows
        }
    }

    private static func draft(_ values: [String: BodyValue], line: Int) throws(AdminError) -> Draft {
        let fields = try BodyFields(values, known: Set(fields))
        let text = try fields.requiredText("address")
        guard let address = UserAddress(parsing: text) else {
            throw AdminError(.requestInvalidValue, "\(text.prefix(64)) is no address with a domain.")
        }
        let (password, record) = (try fields.text("password"), try fields.text("passwordRecord"))
        switch (password, record) {
        case (nil, nil): throw AdminError(.requestMissingField, "There is neither password nor passwordRecord.")
        case (.some, .some): throw AdminError(.requestInvalidValue, "There are both password and passwordRecord.")
        case (let password?, nil):
            if let complaint = NewPassword.complaint(about: password) {
                throw AdminError(.requestInvalidValue, "The password \(complaint).")
            }
        case (nil, let record?):
            guard PasswordHash(parsing: record) != nil else {
                throw AdminError(.requestInvalidValue, "The passwordRecord is no $scrypt$ hash of this gateway.")
            }
        }
        var authName: AuthName?
        if let text = try fields.text("authName") { authName = try Self.authName(text) }
        let user = StoredUser(
            address: address, passwordRecord: record ?? "",
            displayName: try displayName(try fields.text("displayName") ?? ""), authName: authName)
        return Draft(
            line: line, account: Account(user, isEnabled: try fields.flag("enabled") ?? true), password: password)
    }

    /// A display name that can be shown.
    ///
    /// - Throws: `request.invalid_value`.
    static func displayName(_ text: String) throws(AdminError) -> String {
        guard text.utf8.count <= 256,
            !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
        else {
            throw AdminError(
                .requestInvalidValue, "The displayName is longer than 256 bytes, or contains a control character.")
        }
        return text
    }

    /// An auth name.
    ///
    /// - Throws: `request.invalid_value`.
    static func authName(_ text: String) throws(AdminError) -> AuthName {
        guard let name = AuthName(text) else {
            throw AdminError(
                .requestInvalidValue,
                "\(text.prefix(64)) is no auth name; it is at most 128 bytes long, and has no @, no : and no spaces.")
        }
        return name
    }
}
