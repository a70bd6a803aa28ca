import CallControl
import CallRuntime
import Cryptography
import GatewayAPI
import Logging
import Observability
import Primitives

/// Passwords whose records cost less than they should are hashed anew after a login, in the background. What is decided
/// is in ``PasswordUpgrades``.
extension Authenticator {
    /// Whether a stored record is the one that credentials were checked against, or the one that has replaced it.
    func isStill(_ stored: LoginRecords.Record, _ record: CredentialDigest.RecordMark, for digest: CredentialDigest)
        -> Bool
    {
        let mark = key.mark(of: stored.text)
        return mark == record || verified.belongs(digest, to: mark)
    }

    /// Hashes the password of an accepted login anew, if that is due now.
    ///
    /// - Parameters:
    ///   - password: makes the password, which need not be read for a record that stays.
    ///   - checks: how many of the checks under way are of this login.
    func startUpgrade(
        of record: LoginRecords.Record, _ user: UserAddress, besides checks: Int, _ password: () -> Redacted<String>?
    ) {
        let isIdle = queue.isIdle(besides: checks) && !isTurningAway
        guard upgrades.isDue(record.password, whileIdle: isIdle, at: clock.now), let password = password() else {
            return
        }
        upgrades.started(user, at: clock.now)
        // No request waits for it. It ends before `shutdown()` does.
        upgrade = Task {
            await replace(record, of: user, by: password)
            upgrades.finished(at: clock.now)
        }
    }

    private func replace(_ record: LoginRecords.Record, of user: UserAddress, by password: Redacted<String>) async {
        do {
            let made = try await verifier.makeRecord(of: password.value, configuration.passwordCost)
            let (old, new) = (key.mark(of: record.text), key.mark(of: record.replacing(password: made).text))
            // Requests that come while the database writes may find either record there.
            verified.willReplace(old, by: new, of: user)
            guard try await records.users.upgradePassword(from: record.password, to: made, of: user) else {
                return verified.kept(old, of: user)
            }
            for (digest, expires) in verified.replaced(old, by: new, of: user) {
                journal?.note(.init(digest: digest.bytes, account: user, record: new.bytes, expires: expires))
            }
            metrics.passwordsUpgraded.increment()
        } catch is CancellationError {
            // The gateway stops; the next login does it.
        } catch {
            verified.kept(key.mark(of: record.text), of: user)
            logger.warning("a password could not be hashed anew", metadata: [LogKey.error: "\(error)"])
        }
    }
}
