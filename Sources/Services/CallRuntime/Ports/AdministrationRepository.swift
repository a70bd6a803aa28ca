package import CallControl

/// What an operator may do at the administration interface. Each role includes those before it.
package enum AdminRole: String, Sendable, CaseIterable, Comparable {
    /// Looks, and changes nothing.
    case readOnly = "read-only"
    /// Ends calls and subscriptions, drains, sets the log level.
    case `operator`
    /// Everything: also users and tokens.
    case admin

    private var rank: Int {
        switch self {
        case .readOnly: 0
        case .operator: 1
        case .admin: 2
        }
    }

    /// Whether the second role may more than the first.
    package static func < (a: AdminRole, b: AdminRole) -> Bool { a.rank < b.rank }
}

/// A bearer token of the administration interface, as stored.
package struct StoredAdminToken: Equatable, Sendable {
    /// The name that the audit log shows; unique.
    package var name: String
    /// The SHA-256 of the token, which itself is nowhere kept.
    package var digest: [UInt8]
    /// What its bearer may do.
    package var role: AdminRole
    /// When it was made, milliseconds since 1970.
    package var createdAt: Int64
    /// Who made it, by the name in the audit log.
    package var createdBy: String
    /// When it stops being accepted, milliseconds since 1970; `nil`: never.
    package var expiresAt: Int64?

    /// Makes a token of its parts; each parameter is the property of that name.
    package init(
        name: String, digest: [UInt8], role: AdminRole, createdAt: Int64, createdBy: String, expiresAt: Int64?
    ) {
        self.name = name
        self.digest = digest
        self.role = role
        self.createdAt = createdAt
        self.createdBy = createdBy
        self.expiresAt = expiresAt
    }
}

/// A line of the audit log: who did what.
package struct AuditEntry: Equatable, Sendable {
    /// The place in the log, from 1; 0 before it is written.
    package var number: Int64
    /// When it was asked, milliseconds since 1970.
    package var time: Int64
    /// Who asked: the name of a token, or the user of the process that asked over the socket.
    package var who: String
    /// The role of who asked.
    package var role: AdminRole
    /// The operation, such as `addUser`.
    package var operation: String
    /// What it was about, such as the address of a user; empty: the gateway.
    package var target: String
    /// The HTTP status of the answer; `nil`: the process ended before it was known.
    package var status: Int?
    /// `done`, or the code of the refusal; `nil` as with ``status``.
    package var result: String?

    /// Makes an entry of its parts; each parameter is the property of that name.
    package init(
        number: Int64 = 0, time: Int64, who: String, role: AdminRole, operation: String, target: String,
        status: Int? = nil, result: String? = nil
    ) {
        self.number = number
        self.time = time
        self.who = who
        self.role = role
        self.operation = operation
        self.target = target
        self.status = status
        self.result = result
    }
}

/// How much of the audit log, and of the answers to requests, is kept.
package struct AuditLimits: Equatable, Sendable {
    /// How long an entry is kept.
    package var age = Duration.seconds(365 * 86_400)
    /// How many entries are kept; the oldest make room.
    package var count = 100_000
    /// How many idempotency keys are remembered; the oldest make room.
    package var keys = 10_000

    /// Makes limits with the default values.
    package init() {}
}

/// The answer to a request with an idempotency key, as it is given again.
package struct KeptAnswer: Equatable, Sendable {
    /// The HTTP status.
    package var status: Int
    /// The media type of the body.
    package var contentType: String
    /// The body.
    package var body: [UInt8]

    /// Makes an answer of its parts; each parameter is the property of that name.
    package init(status: Int, contentType: String, body: [UInt8]) {
        self.status = status
        self.contentType = contentType
        self.body = body
    }
}

/// What is known of an idempotency key.
package enum KeyReservation: Equatable, Sendable {
    /// Nothing: the request is to be carried out, and its answer kept or the reservation given up.
    case reserved
    /// The same request was answered.
    case answered(KeptAnswer)
    /// The same request was reserved by this process, and neither answered nor given up.
    case inProgress
    /// The key was used for another request.
    case ofAnotherRequest
    /// Nothing, and the application has as many keys as are remembered: the oldest is forgotten after this time.
    case full(Duration)
}

/// What the administration interface keeps. Every function throws `StorageError.failed` if the database refuses.
package protocol AdministrationRepository: IdempotencyRepository {
    /// The token of this digest; `nil`: none.
    func adminToken(_ digest: [UInt8]) async throws(StorageError) -> StoredAdminToken?
    /// All tokens, in the order of their names.
    func adminTokens() async throws(StorageError) -> [StoredAdminToken]
    /// Adds a token; `false` if there is one of that name.
    func addAdminToken(_ token: StoredAdminToken) async throws(StorageError) -> Bool
    /// Removes a token; `false` if there is none of that name.
    func removeAdminToken(_ name: String) async throws(StorageError) -> Bool

    /// Adds an entry to the audit log, and removes what is beyond the limits.
    ///
    /// - Returns: the number of the entry.
    func addAudit(_ entry: AuditEntry, limits: AuditLimits) async throws(StorageError) -> Int64
    /// Says what became of the request of an entry.
    func finishAudit(_ number: Int64, status: Int, result: String) async throws(StorageError)
    /// Entries, the latest first.
    ///
    /// - Parameters:
    ///   - number: only entries before this one; `nil`: from the latest on.
    ///   - who: only entries of this asker; `nil`: of everybody.
    func audit(before number: Int64?, who: String?, limit: Int) async throws(StorageError) -> [AuditEntry]
}

/// What is known of requests that come with an idempotency key, of operators and of applications. Every function throws
/// `StorageError.failed` if the database refuses.
package protocol IdempotencyRepository: Sendable {
    /// Looks up an idempotency key, and reserves it if nothing is known of it. Keys that are older than `age` are
    /// forgotten: they neither count nor are answered, even if they still take room. A reservation of another process,
    /// which ended before it had an answer, is taken over.
    ///
    /// - Parameters:
    ///   - key: made of the key and of who used it.
    ///   - fingerprint: a digest of the request.
    ///   - process: a name of this process that no other has.
    ///   - application: who used it; `nil`: an operator.
    ///   - now: milliseconds since 1970.
    ///   - limit: how many keys are remembered of the application, or of operators. An application that has so many
    ///     gets no further one; of those of operators the oldest make room, one in a hundred of them at a time.
    /// - Throws: `noSuchApplication` if the application is gone.
    func reserve(
        key: [UInt8], fingerprint: [UInt8], process: String, of application: ApplicationIdentity?, at now: Int64,
        age: Duration, limit: Int
    ) async throws(StorageError) -> KeyReservation
    /// Keeps the answer to the request of a reserved key; `nil` gives the reservation up.
    func keep(_ answer: KeptAnswer?, for key: [UInt8]) async throws(StorageError)
}
