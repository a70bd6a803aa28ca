import CallControl

/// Adds and removes the owners of calls, and limits the number of calls. To look up a call, use the `OwnerTable`, which
/// is not isolated to this actor.
actor CallDirectory {
    private let maximumCalls: Int
    private let table: OwnerTable
    private var owners: [CallID: CallOwner] = [:]
    private let newWork: NewWork
    private var watchers: [AsyncStream<Never>.Continuation] = []

    init(maximumCalls: Int, _ table: OwnerTable, _ newWork: NewWork) {
        self.maximumCalls = maximumCalls
        self.table = table
        self.newWork = newWork
    }

    /// Adds the owner of a new call.
    ///
    /// - Throws: `draining`, or `limitOfCalls`.
    func insert(_ owner: CallOwner) throws(CallError) {
        guard !newWork.isRefused else { throw .draining }
        guard owners.count < maximumCalls, owners[owner.id] == nil else { throw .limitOfCalls }
        owners[owner.id] = owner
        table.set(owner, for: owner.id)
    }

    /// Removes a call that is not started. Repetitions of its request are refused with this error; `nil`: there are
    /// none.
    func discard(_ call: CallID, _ error: CallError?) async {
        let owner = owners[call]
        remove(call)
        if let error { await owner?.refuse(error) }
    }

    /// Removes a call that has ended, or was not started.
    func remove(_ call: CallID) {
        owners[call] = nil
        table.set(nil, for: call)
        finishWatchersIfEmpty()
    }

    /// The calls that there are, and a stream that finishes when there is none any more.
    func remaining() -> (calls: [CallOwner], emptied: AsyncStream<Never>) {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        watchers.append(continuation)
        finishWatchersIfEmpty()
        return (Array(owners.values), stream)
    }

    /// Finishes the streams of `remaining` when there are no calls any more.
    private func finishWatchersIfEmpty() {
        guard owners.isEmpty else { return }
        for watcher in watchers { watcher.finish() }
        watchers = []
    }
}
