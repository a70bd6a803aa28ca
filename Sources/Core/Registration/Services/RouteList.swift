/// The routes of a user: names of ways on which another system sends calls for the user (spidr-wire §10). That system
/// says which there are; the user says which of them are active, and which goes before which.
package struct RouteList: Equatable, Sendable {
    /// One route.
    package struct Route: Hashable, Sendable, Codable {
        /// Its name, unique in the list: 1 to 64 bytes of UTF-8 without control characters.
        package var name: String
        /// Whether calls are to take it.
        package var isActive: Bool

        /// Makes a route of its parts.
        package init(_ name: String, isActive: Bool) {
            self.name = name
            self.isActive = isActive
        }
    }

    /// A change of the list.
    package enum Change: Equatable, Sendable {
        /// These routes are active from now on.
        case activate([String])
        /// These routes are active no more.
        case deactivate([String])
        /// These routes go before all others, in this order; the others keep theirs.
        case reorder([String])
        /// These are the routes that there are. Those that are kept have their state and order; new ones come behind
        /// them, and are not active.
        case provide([String])
    }

    /// Why a change is refused; nothing has changed then.
    package enum Fault: Error, Equatable {
        /// There is no route of this name.
        case unknown(String)
        /// This name comes twice.
        case repeated(String)
        /// This cannot be the name of a route.
        case unusable(String)
        /// There would be more routes than this number.
        case tooMany(Int)
    }

    /// The most routes that a user can have.
    package static let most = 100
    private static let longestName = 64

    /// The routes, the first choice first.
    package private(set) var routes: [Route]

    /// Makes a list of routes, each of which has a name of its own.
    package init(_ routes: [Route] = []) { self.routes = routes }

    /// Carries out a change.
    ///
    /// - Throws: ``Fault``, and nothing changes.
    package mutating func apply(_ change: Change) throws(Fault) {
        switch change {
        case .activate(let names): try set(names, isActive: true)
        case .deactivate(let names): try set(names, isActive: false)
        case .reorder(let names):
            let first = try known(names)
            routes = first + routes.filter { !names.contains($0.name) }
        case .provide(let names): try provide(names)
        }
    }

    private mutating func set(_ names: [String], isActive: Bool) throws(Fault) {
        _ = try known(names)
        for index in routes.indices where names.contains(routes[index].name) { routes[index].isActive = isActive }
    }

    private mutating func provide(_ names: [String]) throws(Fault) {
        try checkUnique(names)
        guard names.count <= Self.most else { throw .tooMany(Self.most) }
        for name in names {
            guard (1...Self.longestName).contains(name.utf8.count),
                name.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control })
            else { throw .unusable(name) }
        }
        let kept = routes.filter { names.contains($0.name) }
        let former = Set(kept.map(\.name))
        routes = kept + names.filter { !former.contains($0) }.map { Route($0, isActive: false) }
    }

    /// The routes of these names, in their order.
    private func known(_ names: [String]) throws(Fault) -> [Route] {
        try checkUnique(names)
        var found: [Route] = []
        for name in names {
            guard let route = routes.first(where: { $0.name == name }) else { throw .unknown(name) }
            found.append(route)
        }
        return found
    }

    private func checkUnique(_ names: [String]) throws(Fault) {
        var seen: Set<String> = []
        for name in names where !seen.insert(name).inserted { throw .repeated(name) }
    }
}
