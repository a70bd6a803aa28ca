import CallControl

/// Decides which calls there are, and limits their number. Whoever looks a call up asks the `OwnerTable`.
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

    /// Removes a call that has ended, or was not started.
    func remove(_ call: CallID) {
        owners[call] = nil
        finishWatchersIfEmpty()
    }

    /// Refuses new calls from now on.
    ///
    /// - Returns: the calls there are, and a stream that finishes when the last of them is gone.
    func beginDraining() -> (calls: [CallOwner], emptied: AsyncStream<Never>) {
        isDraining = true
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        watchers.append(continuation)
        finishWatchersIfEmpty()
        return (Array(owners.values), stream)
    }

    /// Finishes the streams of `startDraining` when there are no calls any more.
    private func finishWatchersIfEmpty() {
        guard owners.isEmpty else { return }
        for watcher in watchers { watcher.finish() }
        watchers = []
    }
}
