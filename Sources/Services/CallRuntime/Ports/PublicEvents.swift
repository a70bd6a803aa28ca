package import EventAPI
package import Primitives

/// The log of the events of all calls, for programs that follow them (docs/call-events.md, *The public log*). An event
/// is in it once it is durable.
package protocol PublicEvents: Sendable {
    /// The name of the log, the first part of its cursors.
    var name: String { get }
    /// The place behind the last event.
    var last: Int64 { get }
    /// Events up to this number may be gone.
    var removedThrough: Int64 { get }
    /// The events behind a place. If there are none, waits for one.
    ///
    /// - Parameters:
    ///   - number: the place; ``EventPage/through`` of the page before.
    ///   - limit: the most events, 1 or more.
    ///   - deadline: when the wait ends, with a page without events; a time that is over: it does not wait.
    /// - Returns: a page with ``EventPage/isGap`` if events behind the place are gone. A task that is cancelled gets a
    ///   page without events.
    /// - Throws: `StorageError.failed` if the events cannot be read.
    func page(
        after number: Int64, _ selection: EventSelection, limit: Int, waitingUntil deadline: MonotonicTime
    ) async throws(StorageError) -> EventPage
    /// Tells of all events from now on.
    ///
    /// - Parameter told: gets events as they become durable, in order, and `nil` when nothing comes any more; behind
    ///   that, what it gets is in the log as well. It returns at once.
    /// - Returns: the number of the last event before those.
    func follow(_ told: @escaping @Sendable ([PublicEvent]?) -> Void) -> Int64
    /// The place before which the address was another account's, whose events are not shown to the reader; 0: none. For
    /// an application there is none: the events that it may see have its number.
    ///
    /// - Throws: `StorageError.failed`.
    func floor(of reader: EventReader) async throws(StorageError) -> Int64
}
