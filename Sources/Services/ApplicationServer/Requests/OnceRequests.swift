import CallControl
import CallRuntime
import Foundation
import GatewayAPI
import HTTPTypes

/// Carries out requests with idempotency keys once, and gives their answers again, also after a restart.
///
/// A request that comes while the same one is carried out waits for its answer. A refusal has changed nothing, and is
/// not kept: the same request may be sent again with the same key once what was in its way is gone.
actor OnceRequests {
    /// How many answers that could not be stored are remembered, of all applications.
    private static let unstoredLimit = 1_000

    private let repository: any IdempotencyRepository
    private let clock: any RuntimeClock
    private let process: String
    /// How many keys of an application are remembered.
    private let limit: Int
    /// What is being carried out, by the names of the keys.
    private var running: [[UInt8]: Running] = [:]
    /// What was carried out, but could not be stored, by the names of the keys. The reservations stay in the database.
    private var unstored: [[UInt8]: KeptAnswer] = [:]

    private struct Running {
        let fingerprint: [UInt8]
        let task: Task<Result<V1Answer, V1Error>, Never>
    }

    init(_ repository: any IdempotencyRepository, clock: any RuntimeClock, process: String, limit: Int) {
        self.repository = repository
        self.clock = clock
        self.process = process
        self.limit = limit
    }

    /// Carries out a request, unless that was done before.
    ///
    /// - Returns: the answer, which may be a refusal. One that was given before says so in a header.
    /// - Throws: `idempotency.key_reused`, `idempotency.limited`, `service.unavailable`.
    func answer(
        _ key: RequestKey, of application: ApplicationIdentity,
        _ perform: @escaping @Sendable () async throws(V1Error) -> V1Answer
    ) async throws(V1Error) -> V1Answer {
        if let same = running[key.name] {
            guard same.fingerprint == key.fingerprint else { throw .keyReused }
            return try await same.task.value.get().repeated
        }
        // The client may leave; what it has asked for is carried out nevertheless, and kept.
        let task = Task { await self.result(key, application, perform) }
        running[key.name] = Running(fingerprint: key.fingerprint, task: task)
        return try await task.value.get()
    }

    private func result(
        _ key: RequestKey, _ application: ApplicationIdentity,
        _ perform: @Sendable () async throws(V1Error) -> V1Answer
    ) async -> Result<V1Answer, V1Error> {
        // Before anybody hears the answer: the next request with the key does not get it from here.
        defer { running[key.name] = nil }
        do throws(V1Error) {
            return .success(try await once(key, application, perform))
        } catch {
            return .failure(error)
        }
    }

    private func once(
        _ key: RequestKey, _ application: ApplicationIdentity,
        _ perform: @Sendable () async throws(V1Error) -> V1Answer
    ) async throws(V1Error) -> V1Answer {
        let reservation = try await storing { () async throws(StorageError) in
            try await repository.reserve(
                key: key.name, fingerprint: key.fingerprint, process: process, of: application,
                at: clock.epochMilliseconds, age: IdempotencyHeader.age, limit: limit)
        }
        switch reservation {
        case .reserved: unstored[key.name] = nil
        case .answered(let kept): return V1Answer(kept).repeated
        case .inProgress:
            // Nobody else in this process carries it out: the database failed at the end of the request before. What it
            // has done is known here; a reservation that could only not be given up is taken over.
            guard let kept = unstored[key.name] else { break }
            try await keep(kept, key)
            return V1Answer(kept).repeated
        case .ofAnotherRequest: throw .keyReused
        case .full(let wait):
            throw V1Error(
                .idempotencyLimited,
                "The application has \(limit) keys that are not a day old, and may have no more: what was answered "
                    + "under them is kept.", retryAfter: wait)
        }
        let answer: V1Answer
        do throws(V1Error) {
            answer = try await perform()
        } catch {
            answer = .refusal(error)
        }
        guard answer.status < 300, let kept = KeptAnswer(answer) else {
            // If this fails, the next request with the key takes the reservation over.
            _ = try? await repository.keep(nil, for: key.name)
            return answer
        }
        try await keep(kept, key)
        return answer
    }

    /// Stores an answer; one that cannot be stored is remembered until it can.
    ///
    /// - Throws: `service.unavailable`.
    private func keep(_ kept: KeptAnswer, _ key: RequestKey) async throws(V1Error) {
        do throws(StorageError) {
            try await repository.keep(kept, for: key.name)
            unstored[key.name] = nil
        } catch {
            if unstored.count >= Self.unstoredLimit { unstored = [:] }
            unstored[key.name] = kept
            throw .unavailable
        }
    }

    private func storing<Value>(_ body: () async throws(StorageError) -> Value) async throws(V1Error) -> Value {
        do throws(StorageError) {
            return try await body()
        } catch {
            throw .unavailable
        }
    }
}

extension V1Error {
    fileprivate static let keyReused = V1Error(
        .idempotencyKeyReused, "The Idempotency-Key was used for another request.")
}

extension KeptAnswer {
    /// What is kept of an answer; `nil`: it is a stream.
    fileprivate init?(_ answer: V1Answer) {
        guard case .bytes(let body) = answer.body else { return nil }
        self.init(status: answer.status, contentType: answer.contentType, body: body)
    }
}

extension V1Answer {
    /// The same answer, which says that it was given before.
    fileprivate var repeated: V1Answer {
        var answer = self
        answer.headers[.idempotentReplayed] = "true"
        return answer
    }

    /// The answer that was kept. Its headers follow from its body.
    fileprivate init(_ kept: KeptAnswer) {
        self.init(kept.status, contentType: kept.contentType, .bytes(kept.body))
        let shown = try? JSONDecoder().decode(Shown.self, from: Data(kept.body))
        if let id = shown?.id, let version = shown?.version {
            headers = HTTPFields(of: id, "\"\(version)\"", status: kept.status)
        }
    }

    /// What the headers of an answer are made of: those of a call.
    private struct Shown: Decodable {
        let id: String?
        let version: UInt64?
    }
}
