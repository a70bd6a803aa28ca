import CallControl
import CallRuntime
import GatewayAPI
import Foundation

/// Accounts.
extension AdminResponder {
    static let userFields = ["address", "password", "displayName", "authName", "enabled"]

    func listUsers(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let page = try PageRequest(call.parameters, of: .listUsers, parts: 1)
        var filter = AccountFilter()
        filter.domain = call.parameters["domain"]?.lowercased()
        filter.prefix = call.parameters["prefix"]?.lowercased() ?? ""
        filter.isEnabled = try call.parameters.flag("enabled")
        let read = try await accounts(filter, after: page.after.flatMap { UserAddress(parsing: $0[0]) }, page.limit + 1)
        return .json(Page(read.map(UserField.init), page, of: .listUsers) { [$0.address] })
    }

    private func accounts(
        _ filter: AccountFilter, after address: UserAddress?, _ limit: Int
    ) async throws(AdminError) -> [Account] {
        try await storing { () async throws(StorageError) in
            try await accounts.accounts(filter, after: address, limit: limit)
        }
    }

    func showUser(_ call: Call) async throws(AdminError) -> AdminAnswer { .json(try await field(of: user(call))) }

    private func field(of address: UserAddress) async throws(AdminError) -> UserField {
        let account = try await storing { () async throws(StorageError) in try await accounts.account(address) }
        guard let account else { throw AdminError(.noSuchUser(address)) }
        return UserField(account)
    }

    func addUser(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let fields = try BodyFields(parsing: call.body, known: Set(Self.userFields))
        let text = try fields.requiredText("address")
        guard let address = UserAddress(parsing: text) else {
            throw AdminError(
                .requestInvalidValue,
                "\(text.prefix(64)) is no address; write it in full, such as alice@example.com.")
        }
        let user = StoredUser(
            address: address,
            passwordRecord: try await NewPassword.record(of: fields.requiredText("password"), passwordCost),
            displayName: try displayName(fields) ?? "", authName: try authName(fields) ?? nil)
        let account = Account(user, isEnabled: try fields.flag("enabled") ?? true)
        do throws(AccountFault) {
            try await accounts.add([account], replacing: false)
        } catch {
            throw AdminError(error.error)
        }
        return .json(try await field(of: address), status: 201)
    }

    func changeUser(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let address = try user(call)
        let fields = try BodyFields(parsing: call.body, known: Set(Self.userFields).subtracting(["address"]))
        var change = AccountChange()
        if let password = try fields.text("password") {
            change.passwordRecord = try await NewPassword.record(of: password, passwordCost)
        }
        change.displayName = try displayName(fields)
        change.authName = try authName(fields)
        change.isEnabled = try fields.flag("enabled")
        let wanted = change
        guard !wanted.isEmpty else {
            throw AdminError(.requestMissingField, "The body names nothing to change.")
        }
        try await storing { () async throws(StorageError) in try await accounts.change(address, wanted) }
        await controls.accountsChanged()
        if wanted.isEnabled == false { try await dismissRemovedUsers() }
        return .json(try await field(of: address))
    }

    func removeUser(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let address = try user(call)
        let shown = try await field(of: address)
        try await storing { () async throws(StorageError) in try await accounts.remove(address) }
        await controls.accountsChanged()
        try await dismissRemovedUsers()
        return .json(shown)
    }

    /// Ends what belongs to accounts that are gone. The account itself is gone already, so a failure is not the
    /// caller's: the gateway does the same again within two seconds.
    private func dismissRemovedUsers() async throws(AdminError) {
        try await storing { () async throws(StorageError) in
            try await administration.dismissRemovedUsers()
            try await push.dismissRemovedUsers()
            try await journal.durable()
        }
    }

    /// The display name in a body; `nil`: it is not to change.
    private func displayName(_ fields: BodyFields) throws(AdminError) -> String? {
        guard fields.has("displayName") else { return nil }
        return try UserFile.displayName(try fields.text("displayName") ?? "")
    }

    /// The auth name in a body; `nil`: it is not to change, the inner `nil`: there is to be none.
    private func authName(_ fields: BodyFields) throws(AdminError) -> AuthName?? {
        guard fields.has("authName") else { return nil }
        guard let text = try fields.text("authName") else { return .some(nil) }
        return .some(try UserFile.authName(text))
    }

    // MARK: Import and export

    func exportUsers(_ call: Call, withPasswords: Bool) async throws(AdminError) -> AdminAnswer {
        let format = try call.parameters.word("format", UserFile.Format.self) ?? .jsonl
        var all: [Account] = []
        while true {
            let more = try await accounts(AccountFilter(), after: all.last?.user.address, 1_000)
            all += more
            if more.count < 1_000 { break }
        }
        let file = UserFile(format: format)
        return AdminAnswer(
            200, contentType: format.contentType, .bytes(file.write(all, withPasswords: withPasswords)))
    }

    func importUsers(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let format = try call.parameters.word("format", UserFile.Format.self) ?? .jsonl
        let replaces = try call.parameters.flag("replace") ?? false
        let drafts = try UserFile(format: format).read(call.body)
        var accounts: [Account] = []
        for draft in drafts {
            var user = draft.account
            if let password = draft.password {
                do throws(AdminError) {
                    user.user.passwordRecord = try await NewPassword.record(of: password, passwordCost)
                } catch {
                    throw error.inLine(draft.line)
                }
            }
            accounts.append(user)
        }
        do throws(AccountFault) {
            try await self.accounts.add(accounts, replacing: replaces)
        } catch {
            guard let index = error.index else { throw AdminError(error.error) }
            throw AdminError(error.error).inLine(drafts[index].line)
        }
        if replaces {
            await controls.accountsChanged()
            // An account that was replaced may be disabled now.
            try await dismissRemovedUsers()
        }
        return .json(["imported": accounts.count])
    }
}

extension AdminError {
    /// The same fault as one of an import. What is the gateway's fault stays as it is.
    func inLine(_ line: Int) -> AdminError {
        code.httpStatus >= 500
            ? self : AdminError(.importLineInvalid, "Line \(line): \(detail) Nothing was imported.", line: line)
    }
}

/// An account as it is shown.
struct UserField: Encodable, Equatable, Sendable {
    var address: String
    var displayName: String
    var authName: String?
    var enabled: Bool

    init(_ account: Account) {
        address = account.user.address.text
        displayName = account.user.displayName
        authName = account.user.authName?.text
        enabled = account.isEnabled
    }
}
