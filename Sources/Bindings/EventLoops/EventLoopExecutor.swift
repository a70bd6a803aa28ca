package import NIOCore

/// Runs tasks on an event loop, so that a request is read, processed and answered without a change of threads.
///
/// Actors that such a task calls run on the event loop, too. Therefore the task must not block.
package final class EventLoopExecutor: TaskExecutor {
    private let eventLoop: any EventLoop

    /// Makes an executor for an event loop.
    package init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

    /// Runs a job on the event loop, behind the work that waits there.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        eventLoop.execute { unsafe job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
