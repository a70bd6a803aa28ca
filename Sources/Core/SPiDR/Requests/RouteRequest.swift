package import Registration

/// `routeRequest` of `PUT routelist` (spidr-wire §10).
package struct RouteRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "routeRequest"

    /// The names of the routes that are meant.
    package var routeList: [String]
    /// `activate`, `deactivate` or `reorder`.
    package var action: String

    /// What the request asks for.
    ///
    /// - Throws: `unusable` for another action.
    package func change() throws(RequestFault) -> RouteList.Change {
        switch action {
        case "activate": .activate(routeList)
        case "deactivate": .deactivate(routeList)
        case "reorder": .reorder(routeList)
        default:
            throw .unusable(
                field: "\(Self.wrapper).action", reason: "must be activate, deactivate or reorder")
        }
    }
}
