package import CallControl
package import Registration

/// The routes of users. Implemented by `Storage`. What a function has changed is durable when it returns.
package protocol RouteRepository: Sendable {
    /// The routes of a user; none if there is no such user.
    ///
    /// - Throws: `StorageError.failed` if the database refuses.
    func routes(of user: UserAddress) async throws(StorageError) -> RouteList
    /// Changes the routes of a user.
    ///
    /// - Returns: the routes after the change.
    /// - Throws: `fault`; `storage` if there is no such user, or the database refuses. Nothing has changed then.
    func change(_ change: RouteList.Change, of user: UserAddress) async throws(RouteError) -> RouteList
}

/// Why routes were not changed.
package enum RouteError: Error, Equatable {
    /// The change does not fit the list.
    case fault(RouteList.Fault)
    /// The store failed.
    case storage(StorageError)
}
