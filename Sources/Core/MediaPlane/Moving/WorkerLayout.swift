package import Primitives

/// One of the media workers.
package struct WorkerIndex: Hashable, Sendable {
    /// The place of the worker, from 0.
    package let rawValue: UInt16

    /// Makes an index; the place is not checked.
    package init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

/// The assignment of calls and sockets to workers. Calls are assigned in rotation by their numbers. Sockets are
/// numbered worker by worker, so that a path names one socket of the whole process and means the same to every worker.
package struct WorkerLayout: Equatable, Sendable {
    /// The number of workers, at least 1.
    package let workers: Int
    /// The number of UDP sockets per worker. A worker has as many TCP listeners, or none.
    package let socketsPerWorker: Int

    /// Makes a layout. Both numbers are at least 1, and their product at most 65,536; anything else traps.
    package init(workers: Int, socketsPerWorker: Int) {
        precondition(workers > 0 && socketsPerWorker > 0, "a worker has a socket")
        precondition(workers * socketsPerWorker <= Int(UInt16.max) + 1, "a socket's number has 16 bits")
        self.workers = workers
        self.socketsPerWorker = socketsPerWorker
    }

    /// The worker of the call with this number.
    package func worker(ofCall number: UInt64) -> WorkerIndex { WorkerIndex(UInt16(number % UInt64(workers))) }

    /// A number for a new call on the worker of the call `other`.
    package func number(_ random: UInt64, onTheWorkerOf other: UInt64) -> UInt64 {
        let workers = UInt64(workers)
        // The halved number leaves room to add that of the worker.
        return (random >> 1) / workers * workers + other % workers
    }

    /// The number of a worker's first UDP socket and of its first TCP listener.
    package func firstSocket(of worker: WorkerIndex) -> Int { Int(worker.rawValue) * socketsPerWorker }

    /// The worker whose socket or connection the path uses.
    package func worker(of path: Path) -> WorkerIndex {
        WorkerIndex(UInt16(Int(path.local.rawValue) / socketsPerWorker))
    }
}
