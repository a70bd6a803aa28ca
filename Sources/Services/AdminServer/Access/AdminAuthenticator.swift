package import CallRuntime
import Cryptography
package import Primitives
import Sockets
import Synchronization

/// Who makes a request.
package struct AdminCaller: Equatable, Sendable {
    /// The name in the audit log: that of the token, or `uid 0 (root)` on the socket.
    package let name: String
    /// What the caller may do.
    package let role: AdminRole

    /// Makes a caller of its parts; each parameter is the property of that name.
    package init(name: String, role: AdminRole) {
        self.name = name
        self.role = role
    }
}

/// Where a request comes from.
package enum AdminPeer: Equatable, Sendable {
    /// A process on this machine, of this user.
    case process(user: UInt32)
    /// Another machine, or a process on this one that came over TCP. `nil`: the address is not known.
    case network(IPAddress?)
}

/// Says who makes a request: the gateway's own user and root by their socket, everybody else by a token.
package final class AdminAuthenticator: Sendable {
    /// How many wrong tokens a network may show: so many at once, then one in each interval.
    package static let guesses = RateAllowance.Rate(burst: 10, interval: .seconds(5))
    /// How many networks are remembered for that.
    private static let capacity = 1_000

    private let repository: any AdministrationRepository
    private let clock: any RuntimeClock
    private let ownUser: UInt32
    private let failures = Mutex<[Source: RateAllowance]>([:])

    fileprivate enum Source: Hashable {
        case user(UInt32)
        case network(SourceNetwork?)
    }

    /// Makes an authenticator.
    ///
    /// - Parameter ownUser: the user of the gateway's process, who needs no token on the socket.
    package init(_ repository: any AdministrationRepository, clock: any RuntimeClock, ownUser: UInt32) {
        self.repository = repository
        self.clock = clock
        self.ownUser = ownUser
    }

    /// Who makes a request.
    ///
    /// - Parameter authorization: the header `Authorization`; `nil`: there is none.
    /// - Throws: `auth.missing`, `auth.malformed`, `auth.invalid_token`, `auth.token_expired`, `auth.rate_limited`, or
    ///   `service.unavailable`.
    package func caller(_ peer: AdminPeer, _ authorization: String?) async throws(AdminError) -> AdminCaller {
        guard let authorization else {
            if case .process(let user) = peer, user == ownUser || user == 0 {
                return AdminCaller(name: "uid \(user) (\(ProcessIdentity.name(of: user)))", role: .admin)
            }
            throw AdminError(
                .authMissing, "Send the header \"Authorization: Bearer …\" with a token of `orbweaver admin token add`."
            )
        }
        let parts = authorization.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer" else {
            throw AdminError(.authMalformed, "The Authorization header must be \"Bearer\" and a token.")
        }
        let source = Source(peer)
        if let wait = failures.withLock({ $0[source]?.wait(at: clock.now) }) {
            throw AdminError(
                .authRateLimited, "Too many wrong tokens came from your address; wait before the next.",
                retryAfter: wait)
        }
        guard let token = AdminToken(parts[1]), let stored = try await stored(token) else {
            charge(source)
            throw AdminError(.authInvalidToken, "This token is not known here; it may have been revoked.")
        }
        if let end = stored.expiresAt, end <= clock.epochMilliseconds {
            throw AdminError(.authTokenExpired, "The token has expired; have another one made.")
        }
        return AdminCaller(name: stored.name, role: stored.role)
    }

    private func stored(_ token: AdminToken) async throws(AdminError) -> StoredAdminToken? {
        let digest = token.digest
        do throws(StorageError) {
            guard let stored = try await repository.adminToken(digest) else { return nil }
            return constantTimeEqual(stored.digest, digest) ? stored : nil
        } catch {
            throw AdminError(error)
        }
    }

    private func charge(_ source: Source) {
        let now = clock.now
        failures.withLock { failures in
            if failures[source] == nil, failures.count >= Self.capacity {
                failures = failures.filter { ($0.value.clearAt ?? now) > now }
                if failures.count >= Self.capacity { failures = [:] }
            }
            _ = failures[source, default: RateAllowance()].charge(Self.guesses, at: now)
        }
    }
}

extension AdminAuthenticator.Source {
    fileprivate init(_ peer: AdminPeer) {
        switch peer {
        case .process(let user): self = .user(user)
        case .network(let address): self = .network(address.map { SourceNetwork($0) })
        }
    }
}

extension RateAllowance {
    /// How long until another wrong token is looked at; `nil`: one is looked at now.
    fileprivate func wait(at now: MonotonicTime) -> Duration? {
        var copy = self
        return copy.charge(AdminAuthenticator.guesses, at: now)
    }
}
