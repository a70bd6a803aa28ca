import CallControl
import CallRuntime
import Logging
import Observability

/// Tells the call runtime which applications there are: at the start, after each change by the administration
/// interface, and every two seconds in case the command line has changed the database file.
actor ApplicationRegister {
    private let repository: any ApplicationRepository
    private let calls: any ApplicationCalls
    /// Those that are in no database.
    private let others: [RegisteredApplication]
    private let logger: Logger
    private var known: [RegisteredApplication]?
    /// The last reading, so that none overtakes another.
    private var last: Task<Void, Never>?

    init(
        _ repository: any ApplicationRepository, _ calls: any ApplicationCalls, beside others: [RegisteredApplication],
        logger: Logger
    ) {
        self.repository = repository
        self.calls = calls
        self.others = others
        self.logger = logger
    }

    /// Reads the applications. Returns when the call runtime knows them; what cannot be read is read later.
    func refresh() async {
        let before = last
        let task = Task {
            await before?.value
            await read()
        }
        last = task
        await task.value
    }

    private func read() async {
        do throws(StorageError) {
            let found = try await repository.allApplications().map(\.registered)
            guard found != known else { return }
            await calls.setApplications(others + found)
            known = found
        } catch {
            logger.warning("applications could not be read", metadata: [LogKey.error: "\(error)"])
        }
    }
}
