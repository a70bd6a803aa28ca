import Dispatch
import Sockets
import Synchronization

/// Runs what one task does between two suspensions only when it is told to.
final class SteppedExecutor: TaskExecutor {
    private let jobs = Lock<[UnownedJob]>([])
    private let finished = Atomic<Bool>(false)

    var isFinished: Bool { finished.load(ordering: .acquiring) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        jobs.withLock { $0.append(job) }
    }

    /// Begins something that goes on step by step.
    func start(_ work: @escaping @Sendable () async throws -> Void) -> Task<Void, any Error> {
        Task(executorPreference: self) {
            defer { self.finished.store(true, ordering: .releasing) }
            try await work()
        }
    }

    /// Returns whether there was anything to do. Waits a while for it: what an actor that is busy is asked for comes
    /// when it is not.
    func step() async -> Bool {
        for _ in 0..<1_000 {
            if let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) {
                // Elsewhere than in the task that asks for it.
                await withCheckedContinuation { continuation in
                    DispatchQueue.global().async {
                        unsafe job.runSynchronously(on: self.asUnownedTaskExecutor())
                        continuation.resume()
                    }
                }
                return true
            }
            if isFinished { return false }
            await Task.yield()
        }
        return false
    }
}
