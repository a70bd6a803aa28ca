internal import Foundation

/// The accounts that apps have of their own with push providers, from the files of a folder.
package struct AppAccounts {
    /// The accounts of one app. At least one is there.
    package struct Accounts: Equatable {
        /// With Apple; `nil`: the app has that of the gateway.
        package internal(set) var apple: PushConfiguration.Apple?
        /// With Firebase; `nil`: the app has that of the gateway.
        package internal(set) var google: PushConfiguration.Google?
    }

    private struct Known {
        var file: SecretFile
        /// What the file has said when it could be used last.
        var accounts: Accounts?
        /// What is wrong with the file as it is.
        var problem: CredentialProblem?
    }

    /// What a file has.
    private struct Content: Decodable {
        var apple: Apple?
        var google: Google?

        struct Apple: Decodable {
            var team: String
            var keyID: String
            var keyFile: String
        }

        struct Google: Decodable { var accountFile: String }
    }

    /// What the name of a file has behind the bundle identifier of its app.
    private static let suffix = ".json"

    private let configuration: PushConfiguration.Applications
    /// By bundle identifier.
    private var known: [String: Known] = [:]
    private var isFolderMissing = false
    /// Whether it is known which apps have accounts of their own.
    private var hasReadFolder = false

    /// Makes a value that knows no accounts; ``refresh()`` reads them.
    package init(_ configuration: PushConfiguration.Applications) { self.configuration = configuration }

    /// The accounts of an app; `nil`: it has none of its own.
    ///
    /// - Throws: what is wrong with the app's file, if it could never be used, or with the folder, if it could never be
    ///   read: an app must not get the accounts of the gateway because its own are not known.
    package func accounts(of bundleID: String) throws(CredentialProblem) -> Accounts? {
        guard hasReadFolder else { throw folderProblem }
        guard let entry = known[bundleID] else { return nil }
        if entry.accounts == nil, let problem = entry.problem { throw problem }
        return entry.accounts
    }

    /// Whether the accounts of any app meet a condition.
    func contains(where condition: (Accounts) -> Bool) -> Bool {
        for case let accounts? in known.values.map(\.accounts) where condition(accounts) { return true }
        return false
    }

    /// Reads the files that are new or have changed, and those that could not be used: who may read a file can change
    /// without a trace in its time. Forgets those that are gone. What is wrong with a file leaves the app the accounts
    /// that it had.
    ///
    /// - Returns: what is wrong with what was read now, unless the same was wrong with it before.
    package mutating func refresh() -> [CredentialProblem] {
        guard let apps = Self.apps(in: configuration.folder) else {
            defer { isFolderMissing = true }
            return isFolderMissing ? [] : [folderProblem]
        }
        (isFolderMissing, hasReadFolder) = (false, true)
        let present = Set(apps)
        known = known.filter { present.contains($0.key) }
        var problems: [CredentialProblem] = []
        for app in apps.sorted() {
            var entry = known[app] ?? Known(file: SecretFile("\(configuration.folder)/\(app)\(Self.suffix)"))
            if entry.accounts != nil, entry.problem == nil, !entry.file.hasChanged(since: entry.file.stamp) { continue }
            do throws(CredentialProblem) {
                entry.accounts = try accounts(in: try entry.file.read(), of: entry.file.path)
                entry.problem = nil
            } catch {
                if entry.problem != error { problems.append(error) }
                entry.problem = error
            }
            known[app] = entry
        }
        return problems
    }

    /// How many apps have a file in a folder now; 0 if it cannot be read.
    package static func count(in folder: String) -> Int { apps(in: folder)?.count ?? 0 }

    /// The apps that have a file in a folder; `nil`: it cannot be read.
    private static func apps(in folder: String) -> [String]? {
        // `refresh` reports a folder that cannot be read.
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return nil }
        return names.filter { $0.hasSuffix(suffix) && !$0.hasPrefix(".") }.map { String($0.dropLast(suffix.count)) }
    }

    private var folderProblem: CredentialProblem { .unusable("\(configuration.folder) cannot be read") }

    private func accounts(in bytes: [UInt8], of path: String) throws(CredentialProblem) -> Accounts {
        guard let content = try? JSONDecoder().decode(Content.self, from: Data(bytes)),
            content.apple != nil || content.google != nil
        else {
            throw .unusable(
                "\(path) has no accounts of an app: it needs apple with team, keyID and keyFile, or google with accountFile"
            )
        }
        var accounts = Accounts()
        if let apple = content.apple {
            guard Self.isAppleName(apple.team), Self.isAppleName(apple.keyID) else {
                throw .unusable("\(path): team and keyID have 10 letters and digits each")
            }
            var account = PushConfiguration.Apple(
                team: apple.team, keyID: apple.keyID, keyPath: resolved(apple.keyFile))
            account.productionURL = configuration.appleProductionURL
            account.developmentURL = configuration.appleDevelopmentURL
            accounts.apple = account
        }
        if let google = content.google {
            var project = PushConfiguration.Google(accountPath: resolved(google.accountFile))
            project.url = configuration.googleURL
            accounts.google = project
        }
        return accounts
    }

    /// A path that may be relative to the folder.
    private func resolved(_ path: String) -> String { path.hasPrefix("/") ? path : "\(configuration.folder)/\(path)" }

    private static func isAppleName(_ text: String) -> Bool {
        text.utf8.count == 10 && text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber) }
    }
}
