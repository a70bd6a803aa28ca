import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes

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
        let records = await records.callRecords(user, from: start, count: count)
        return .json(.ok, WireJSON.encode(wrapping: LogHistoryResponse(records)))
    }

    func clearLog(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let user = try await owner(of: exchange.id, exchange)
        await records.removeCallRecords(user)
        return .json(.ok, WireJSON.encode(wrapping: LogHistoryResponse()))
    }

    func queryRecord(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let user = try await owner(of: exchange.id, exchange)
        guard let record = await records.callRecord(user, SessionID(exchange.id)) else {
            throw Self.noSuchRecord
        }
        return .json(.ok, WireJSON.encode(wrapping: LogRecordResponse(record)))
    }

    func removeRecord(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let user = try await owner(of: exchange.id, exchange)
        guard await records.removeCallRecord(user, SessionID(exchange.id)) else {
            throw Self.noSuchRecord
        }
        return .json(.ok, WireJSON.encode(wrapping: LogRecordResponse()))
    }

    private static let noSuchRecord = APIError(
        .logRecordNotFound, "There is no such record: the call goes on, was deleted from the log, or is too long ago.")
}
