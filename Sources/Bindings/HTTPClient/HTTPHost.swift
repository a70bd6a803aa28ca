/// What one host has of a client's requests. The client's thread owns it.
final class HTTPHost {
    /// Scheme, name and port.
    let origin: Substring
    /// Requests that libcurl carries.
    var inFlight = 0
    /// Requests that wait, the oldest first.
    private var waiting: [HTTPSubmission] = []
    /// The requests at the start of `waiting` that are gone.
    private var taken = 0

    init(_ origin: Substring) { self.origin = origin }

    func append(_ submission: HTTPSubmission) { waiting.append(submission) }

    func popFirst() -> HTTPSubmission? {
        guard taken < waiting.count else { return nil }
        defer {
            taken += 1
            // The room of what is gone is given back once it is half of the array.
            if taken * 2 >= waiting.count {
                waiting.removeFirst(taken)
                taken = 0
            }
        }
        return waiting[taken]
    }

    /// Removes requests that meet a condition, and returns them.
    func remove(where condition: (HTTPSubmission) -> Bool) -> [HTTPSubmission] {
        waiting.removeFirst(taken)
        taken = 0
        let removed = waiting.filter(condition)
        if !removed.isEmpty { waiting.removeAll(where: condition) }
        return removed
    }
}
