package import Primitives

/// One of the media workers, by its place.
package struct WorkerIndex: Hashable, Sendable {
    package let rawValue: UInt16

    package init(_ rawValue: UInt16) { self.rawValue = rawValue }
}

/// What belongs to which worker. Calls take turns by their numbers; sockets are numbered worker by worker, so that a path names one
/// socket of the whole process, and means the same to every worker.
package struct WorkerLayout: Equatable, Sendable {
    package let workers: Int
    /// UDP sockets of a worker; it has as many listeners for TCP, or none.
    package let socketsPerWorker: Int

    package init(workers: Int, socketsPerWorker: Int) {
        precondition(workers > 0 && socketsPerWorker > 0, "a worker has a socket")
        precondition(workers * socketsPerWorker <= Int(UInt16.max) + 1, "a socket's number has 16 bits")
        self.workers = workers
        self.socketsPerWorker = socketsPerWorker
    }

    package func worker(ofCall number: UInt64) -> WorkerIndex { WorkerIndex(UInt16(number % UInt64(workers))) }

    /// Another number for a call, on the worker of `neighbour`.
    package func number(_ random: UInt64, onTheWorkerOf neighbour: UInt64) -> UInt64 {
        let workers = UInt64(workers)
        // Small enough that the worker's number can be added.
        return (random >> 1) / workers * workers + neighbour % workers
    }

    /// The number of a worker's first socket, and of its first listener.
    package func firstSocket(of worker: WorkerIndex) -> Int { Int(worker.rawValue) * socketsPerWorker }

    /// Whose socket, or whose connection, a path is over.
    package func worker(of path: Path) -> WorkerIndex {
        WorkerIndex(UInt16(Int(path.local.rawValue) / socketsPerWorker))
    }
}
