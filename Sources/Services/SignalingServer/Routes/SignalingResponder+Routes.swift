import CallControl
import CallRuntime
import GatewayAPI
import HTTPTypes
import Logging
import Observability
import Registration
import SPiDR

/// The routes of a user (spidr-wire §10).
extension SignalingResponder {
    func queryRoutes(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let (routes, user) = try routes(for: exchange)
        do throws(StorageError) {
            return Self.answer(try await routes.routes(of: user))
        } catch {
            throw unusableRoutes(error)
        }
    }

    func changeRoutes(_ exchange: RequestExchange) async throws(APIError) -> Answer {
        let (routes, user) = try routes(for: exchange)
        let body = try exchange.decode(RouteRequest.self)
        let change: RouteList.Change
        do throws(RequestFault) {
            change = try body.change()
        } catch {
            throw APIError(error)
        }
        do throws(RouteError) {
            return Self.answer(try await routes.change(change, of: user))
        } catch {
            switch error {
            case .fault(.unknown(let name)):
                throw APIError(
                    .routeNotFound, "There is no route \"\(name.prefix(64))\"; GET lists those that there are.")
            case .fault(.repeated(let name)), .fault(.unusable(let name)):
                throw APIError(
                    RequestFault.unusable(
                        field: "\(RouteRequest.wrapper).routeList", reason: "names \"\(name.prefix(64))\" twice"))
            case .fault(.tooMany(let limit)):
                throw APIError(
                    RequestFault.unusable(
                        field: "\(RouteRequest.wrapper).routeList", reason: "has more than \(limit) names"))
            case .storage(let error): throw unusableRoutes(error)
            }
        }
    }

    /// The routes, and the user whose routes are meant.
    private func routes(for exchange: RequestExchange) throws(APIError) -> (any RouteRepository, of: UserAddress) {
        guard case .user(let user, _, _) = exchange.principal else { preconditionFailure("guests have no such path") }
        guard let routes else { throw .journalUnavailable }
        return (routes, of: user)
    }

    private func unusableRoutes(_ error: StorageError) -> APIError {
        logger.error("the routes of a user cannot be used", metadata: [LogKey.error: "\(error)"])
        return .journalUnavailable
    }

    private static func answer(_ list: RouteList) -> Answer {
        .json(.ok, WireJSON.encode(wrapping: RouteResponse(list)))
    }
}
