import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes

/// A user's calls: those that go on, an addition of this gateway, and the call log (spidr-wire §10).
extension SignalingResponder {
    /// How many items of the log one answer carries: if the request does not say, and at most.
    private static let pageSize = (usual: 25, most: 100)

    func queryCalls(_ exchange: UserExchange) async throws(APIError) -> Answer {
        .json(.ok, WireJSON.encode(wrapping: CallSessionsResponse(await switchboard.callSessions(exchange.user))))
    }

    func queryLog(_ exchange: UserExchange) async throws(APIError) -> Answer {
        let start = try exchange.number("startIndex") ?? 0
        let count = min(try exchange.number("count") ?? Self.pageSize.usual, Self.pageSize.most)
        let records = await switchboard.callRecords(exchange.user, from: start, count: count)
        return .json(.ok, WireJSON.encode(wrapping: LogHistoryResponse(records)))
    }

    func clearLog(_ exchange: UserExchange) async throws(APIError) -> Answer {
        await switchboard.removeCallRecords(exchange.user)
        return .json(.ok, WireJSON.encode(wrapping: LogHistoryResponse()))
    }

    func queryRecord(_ exchange: UserExchange) async throws(APIError) -> Answer {
        guard let record = await switchboard.callRecord(exchange.user, SessionID(exchange.route.id)) else {
            throw Self.noSuchRecord
        }
        return .json(.ok, WireJSON.encode(wrapping: LogRecordResponse(record)))
    }

    func removeRecord(_ exchange: UserExchange) async throws(APIError) -> Answer {
        guard await switchboard.removeCallRecord(exchange.user, SessionID(exchange.route.id)) else {
            throw Self.noSuchRecord
        }
        return .json(.ok, WireJSON.encode(wrapping: LogRecordResponse()))
    }

    private static let noSuchRecord = APIError(
        .logRecordNotFound, "There is no such record: the call goes on, was deleted from the log, or is too long ago.")
}
