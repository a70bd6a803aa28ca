package import Registration
import SPiDR

/// `routeResponse`: the answer to every request about routes (spidr-wire §10).
package struct RouteResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "routeResponse"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0
    /// All routes of the user, the first choice first.
    package var routeList: [RouteField]

    /// Makes the answer with these routes.
    package init(_ list: RouteList) {
        routeList = list.routes.map { RouteField(name: $0.name, status: $0.isActive ? "active" : "inactive") }
    }
}

/// A route on the wire.
package struct RouteField: Codable, Equatable, Sendable {
    /// Its name.
    package var name: String
    /// `active` or `inactive`.
    package var status: String
}
