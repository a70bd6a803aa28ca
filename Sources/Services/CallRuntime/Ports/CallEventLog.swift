package import CallControl

/// Keeps the events of all calls.
package protocol CallEventLog: Sendable {
    /// Adds an event; returns at once. The events of a call come in their order. An event that causes one in another
    /// call comes before it.
    func add(_ event: LoggedEvent)
}
