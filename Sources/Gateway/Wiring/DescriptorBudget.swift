/// The file descriptors of the process, divided among the parts that open some while it runs.
///
/// A listener that limits its connections to its part does not run out of descriptors in accept(2).
package struct DescriptorBudget: Equatable {
    /// How many descriptors the process may have (`RLIMIT_NOFILE`).
    package var limit: Int
    /// How many of these are open when everything is open except the clients' connections.
    package var inUse: Int
    /// How many TCP connections all media workers together may have.
    package var mediaConnections: Int
    /// How many apps have accounts of their own with push providers.
    package var apps: Int

    /// Makes a budget of its parts; each parameter is the property of that name.
    package init(limit: Int, inUse: Int, mediaConnections: Int, apps: Int = 0) {
        self.limit = limit
        self.inUse = inUse
        self.mediaConnections = mediaConnections
        self.apps = apps
    }

    /// Descriptors for what is opened and closed again: files, the database's journal, connections that are accepted
    /// only to be refused.
    private static let reserve = 24
    /// Descriptors for the pushes of an app with accounts of its own, once there are some: for each of Apple's two
    /// environments a client, with a connection, what it waits with, and what resolves names.
    private static let reserveOfApp = 10

    /// How many connections each of so many listeners can have, at least one.
    package func connections(ofEachOf listeners: Int) -> Int {
        let free = max(0, limit - inUse - Self.reserve - apps * Self.reserveOfApp)
        // Media over TCP is for the few clients whose network lets no UDP through.
        return max(1, (free - min(mediaConnections, free / 4)) / max(1, listeners))
    }
}
