import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Logging
import Observability

/// A user's current calls, an addition of this gateway, and the call log (spidr-wire §10).
extension SignalingResponder {
    /// The number of log items in one answer: if the request has no `count`, and at most.
    private static let pageSize = (usual: 25, most: 100)

    func queryCalls(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let user = try await owner(of: exchange.id, exchange)
        return .json(.ok, WireJSON.encode(wrapping: CallSessionsResponse(await switchboard.callSessions(user))))
    }

    func queryLog(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let user = try await owner(of: exchange.id, exchange)
        let start = try exchange.number("startIndex") ?? 0
        let count = min(try exchange.number("count") ?? Self.pageSize.usual, Self.pageSize.most)
        let page = try await reading { () async throws(StorageError) in
            try await records.callRecords(user, from: start, count: count)
        }
        return .json(.ok, WireJSON.encode(wrapping: LogHistoryResponse(page)))
    }

    func clearLog(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let user = try await owner(of: exchange.id, exchange)
        await records.removeCallRecords(user)
        return .json(.ok, WireJSON.encode(wrapping: LogHistoryResponse()))
    }

    func queryRecord(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let user = try await owner(of: exchange.id, exchange)
        let record = try await reading { () async throws(StorageError) in
            try await records.callRecord(user, SessionID(exchange.id))
        }
        guard let record else { throw Self.noSuchRecord }
        return .json(.ok, WireJSON.encode(wrapping: LogRecordResponse(record)))
    }

    func removeRecord(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let user = try await owner(of: exchange.id, exchange)
        let wasThere = try await reading { () async throws(StorageError) in
            try await records.removeCallRecord(user, SessionID(exchange.id))
        }
        guard wasThere else { throw Self.noSuchRecord }
        return .json(.ok, WireJSON.encode(wrapping: LogRecordResponse()))
    }

    /// Reads records; without storage, the answer is 503.
    private func reading<Value>(
        _ read: () async throws(StorageError) -> Value
    ) async throws(APIError) -> Value {
        do throws(StorageError) {
            return try await read()
        } catch {
            logger.error("the call log cannot be read", metadata: [LogKey.error: "\(error)"])
            throw .journalUnavailable
        }
    }

    private static let noSuchRecord = APIError(
        .logRecordNotFound, "There is no such record: the call goes on, was deleted from the log, or is too long ago.")
}
