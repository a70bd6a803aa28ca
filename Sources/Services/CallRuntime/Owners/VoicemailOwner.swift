import CallControl
import Registration

/// Owns the figures of voice mail: how many voice messages each user has. The gateway has no mailbox of its own; the
/// figures come from another system.
actor VoicemailOwner {
    private let environment: RuntimeEnvironment
    /// The figures that are not zero.
    private var counts: [UserAddress: VoicemailCount] = [:]
    /// Which account each of these users had when the accounts were last read.
    private var identities: [UserAddress: AccountIdentity] = [:]

    init(_ environment: RuntimeEnvironment) { self.environment = environment }

    /// Takes over the figures from a process that has ended. To be called before anything is set.
    func restore(_ stored: [UserAddress: VoicemailCount]) { counts = stored }

    /// The users who have voice messages.
    var users: Set<UserAddress> { Set(counts.keys) }

    /// How many voice messages a user has.
    func count(of user: UserAddress) -> VoicemailCount { counts[user] ?? .empty }

    /// Notes how many voice messages a user has, and tells the user if that has changed.
    func set(_ count: VoicemailCount, of user: UserAddress) {
        guard count != self.count(of: user) else { return }
        counts[user] = count == .empty ? nil : count
        environment.append(
            [.registration(.service(.voicemail(count, of: user)))], telling: [(user, .voicemail(count))])
    }

    /// Tells one subscription to events how many voice messages its user has.
    func tell(event id: String, of user: UserAddress) {
        environment.append([], telling: [(user, .voicemailFor(event: id, count(of: user)))])
    }

    /// Forgets the figures of users whose accounts were removed, or belong to another account since the last time.
    ///
    /// - Parameters:
    ///   - accounts: the accounts there are.
    ///   - users: those who had figures before the accounts were read. An account may have been made since then.
    func keepOnly(_ accounts: [UserAddress: AccountIdentity], of users: Set<UserAddress>) {
        defer { identities = accounts.filter { counts[$0.key] != nil } }
        for user in users where counts[user] != nil {
            guard let present = accounts[user], identities[user] ?? present == present else {
                forget(user)
                continue
            }
        }
    }

    private func forget(_ user: UserAddress) {
        counts[user] = nil
        environment.journal.append(.registration(.service(.voicemail(.empty, of: user))))
    }
}
