import CallRuntime
import Foundation
import GRDB
import GatewayAPI
import Primitives
import Push

/// Reads and writes the table `pushRegistration`.
enum PushRegistrationRows {
    /// Writes a change. A registration of an account that is gone is not kept: its row would belong to nobody, or to
    /// whoever gets the address next.
    static func write(_ change: PushRoster.Change, _ database: Database) throws {
        switch change {
        case .registered(let stored):
            let registration = stored.registration
            let (token, standardToken, isProduction) = columns(of: registration.target)
            try database.cachedStatement(
                sql: """
                    INSERT OR REPLACE INTO pushRegistration
                    (id, user, account, provider, bundleID, realm, services, correlator, token, standardToken,
                    isProduction, time)
                    SELECT :id, address, :account, :provider, :bundleID, :realm, :services, :correlator, :token,
                    :standardToken, :isProduction, :time
                    FROM user WHERE address = :user AND (:account IS NULL OR identity = :account)
                    """
            ).execute(arguments: [
                "id": registration.id, "user": registration.user, "account": stored.account,
                "provider": registration.provider.rawValue, "bundleID": registration.bundleID,
                "realm": registration.realm,
                "services": String(decoding: WireJSON.encode(registration.services), as: UTF8.self),
                "correlator": registration.clientCorrelator, "token": token, "standardToken": standardToken,
                "isProduction": isProduction, "time": Int64(clamping: stored.time),
            ])
        case .removed(let id, _):
            try database.cachedStatement(sql: "DELETE FROM pushRegistration WHERE id = ?").execute(arguments: [id])
        }
    }

    private static func columns(
        of target: PushRegistration.Target
    ) -> (token: String?, standardToken: String?, isProduction: Bool) {
        switch target {
        case .apple(let tokens): (tokens.voip?.value, tokens.standard?.value, tokens.isProduction)
        case .google(let token): (token.value, nil, false)
        case .webhook(let url): (url, nil, false)
        }
    }

    /// All registrations. Rows that cannot be understood are set aside.
    ///
    /// - Throws: `DatabaseError`.
    static func contents(_ database: Database, _ setAside: inout SetAside) throws -> [StoredPushRegistration] {
        try Row.fetchAll(database, sql: "SELECT * FROM pushRegistration").compactMap { row in
            guard let stored = registration(row) else {
                // A token is of use to whoever has it: it is not kept where it serves nobody.
                let columns = row.map { name, value -> (String, (any DatabaseValueConvertible)?) in
                    (name, name.lowercased().hasSuffix("token") ? nil : value)
                }
                let shown = Row(Dictionary(columns) { first, _ in first })
                try setAside.move(
                    shown, from: "pushRegistration", key: "id", because: "a registration for push cannot be read",
                    database)
                return nil
            }
            return stored
        }
    }

    private static func registration(_ row: Row) -> StoredPushRegistration? {
        let (services, token): (String, String?) = (row["services"], row["token"])
        let target: PushRegistration.Target
        switch (PushProvider(rawValue: row["provider"]), token) {
        case (.apple, _):
            let standard: String? = row["standardToken"]
            target = .apple(
                PushRegistration.AppleTokens(
                    voip: token.map { Redacted($0) }, standard: standard.map { Redacted($0) },
                    isProduction: row["isProduction"]))
        case (.google, let token?): target = .google(token: Redacted(token))
        case (.webhook, let token?): target = .webhook(url: token)
        case (.google, nil), (.webhook, nil), (nil, _): return nil
        }
        guard let names = try? JSONDecoder().decode([String].self, from: Data(services.utf8)),
            let registration = try? PushRegistration(
                id: row["id"], user: row["user"], bundleID: row["bundleID"], realm: row["realm"], services: names,
                clientCorrelator: row["correlator"], target: target)
        else { return nil }
        return StoredPushRegistration(
            registration, account: row["account"], time: UInt64(clamping: row["time"] as Int64))
    }
}
