import CallControl

/// Finds the owner of a call.
actor CallDirectory {
    private let maximumCalls: Int
    private var owners: [CallID: CallOwner] = [:]
    private var isDraining = false
    private var watchers: [AsyncStream<Never>.Continuation] = []

    init(maximumCalls: Int) { self.maximumCalls = maximumCalls }

    func owner(of call: CallID) -> CallOwner? { owners[call] }

    func insert(_ owner: CallOwner) throws(CallError) {
        guard !isDraining else { throw .draining }
        guard owners.count < maximumCalls, owners[owner.id] == nil else { throw .limitOfCalls }
        owners[owner.id] = owner
    }

    func remove(_ call: CallID) {
        owners[call] = nil
        finishWatchersIfEmpty()
    }

    /// Nothing is inserted any more.
    ///
    /// - Returns: the calls there are, and a stream that finishes when the last of them is gone.
    func beginDraining() -> (calls: [CallOwner], emptied: AsyncStream<Never>) {
        isDraining = true
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        watchers.append(continuation)
        finishWatchersIfEmpty()
        return (Array(owners.values), stream)
    }

    private func finishWatchersIfEmpty() {
        guard owners.isEmpty else { return }
        for watcher in watchers { watcher.finish() }
        watchers = []
    }
}
