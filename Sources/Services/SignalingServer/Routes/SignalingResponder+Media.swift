import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes

/// The media of calls: what the gateway plays, presses and measures (docs/client.md).
extension SignalingResponder {
    func operateMedia(_ exchange: UserExchange, _ ticket: inout RequestTicket?) async throws(APIError) -> Answer {
        let operation = try exchange.decode(MediaRequest.self).operation()
        let session = SessionID(exchange.route.id)
        ticket = await switchboard.requestBegan(exchange.user, about: session)
        do throws(CallError) {
            switch operation {
            case .play(let playback, let target):
                try await switchboard.play(exchange.user, session, playback, to: target)
            case .stop(let target): try await switchboard.stopPlaying(exchange.user, session, to: target)
            case .digits(let digits, let target):
                try await switchboard.sendDigits(exchange.user, session, digits, to: target)
            }
        } catch {
            throw APIError(error)
        }
        return .json(.ok, WireJSON.encode(wrapping: MediaResponse()))
    }

    func queryStatistics(_ exchange: UserExchange) async throws(APIError) -> Answer {
        do throws(CallError) {
            let (own, statistics) = try await switchboard.statistics(exchange.user, SessionID(exchange.route.id))
            return .json(.ok, WireJSON.encode(wrapping: StatisticsResponse(statistics, seenFrom: own)))
        } catch {
            throw APIError(error)
        }
    }
}
