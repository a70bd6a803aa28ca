import CallControl
import CallRuntime
import GatewayAPI
import Foundation
import Registration

/// The routes of a user, which another system follows (spidr-wire §10).
extension AdminResponder {
    private struct RoutesBody: Decodable {
        var routes: [String]
    }

    func showRoutes(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let address = try user(call)
        let account = try await storing { () async throws(StorageError) in try await accounts.account(address) }
        guard account != nil else { throw AdminError(.noSuchUser(address)) }
        let list = try await storing { () async throws(StorageError) in try await routes.routes(of: address) }
        return .json(["items": list.routes.map(RouteItem.init)])
    }

    func setRoutes(_ call: Call) async throws(AdminError) -> AdminAnswer {
        let address = try user(call)
        // The fields are checked first, so that what is wrong with them is named.
        guard try BodyFields(parsing: call.body, known: ["routes"]).has("routes") else {
            throw AdminError(.requestMissingField, "The field \"routes\" is missing.")
        }
        guard let names = try? JSONDecoder().decode(RoutesBody.self, from: Data(call.body)).routes else {
            throw AdminError(.requestInvalidValue, "The field \"routes\" must be a list of names.")
        }
        do throws(RouteError) {
            let list = try await routes.change(.provide(names), of: address)
            return .json(["items": list.routes.map(RouteItem.init)])
        } catch {
            switch error {
            case .fault(.repeated(let name)):
                throw AdminError(.requestInvalidValue, "The route \"\(name.prefix(64))\" comes twice.")
            case .fault(.unusable(let name)), .fault(.unknown(let name)):
                throw AdminError(
                    .requestInvalidValue,
                    "\"\(name.prefix(64))\" is no name of a route; it has 1 to 64 bytes and no control characters.")
            case .fault(.tooMany(let limit)):
                throw AdminError(.requestInvalidValue, "A user has at most \(limit) routes.")
            case .storage(let error): throw AdminError(error)
            }
        }
    }
}

/// A route as it is shown.
struct RouteItem: Encodable {
    var name: String
    var active: Bool

    init(_ route: RouteList.Route) {
        name = route.name
        active = route.isActive
    }
}
