/// What the process may have open, divided among those who open something while it runs.
///
/// A listener that never accepts more than fits never comes to an accept that fails.
package struct DescriptorBudget: Equatable {
    /// Descriptors that the process may have (`RLIMIT_NOFILE`).
    package var limit: Int
    /// Of these, open when everything but the clients' connections is.
    package var inUse: Int
    /// TCP connections that the media workers may have, all together.
    package var mediaConnections: Int

    package init(limit: Int, inUse: Int, mediaConnections: Int) {
        self.limit = limit
        self.inUse = inUse
        self.mediaConnections = mediaConnections
    }

    /// For what is opened and closed again: files, the database's journal, who is accepted only to be turned away.
    private static let reserve = 24

    /// Connections that each of so many listeners can have, at least one.
    package func connections(ofEachOf listeners: Int) -> Int {
        let free = max(0, limit - inUse - Self.reserve)
        // Media over TCP is for the few whose network lets no UDP through.
        return max(1, (free - min(mediaConnections, free / 4)) / max(1, listeners))
    }
}
