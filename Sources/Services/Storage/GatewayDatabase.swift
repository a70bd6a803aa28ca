package import CallRuntime
import Foundation
import GRDB
package import Logging
import Observability
import Synchronization

/// The data that survives a restart: one SQLite file in WAL mode, and the connections through which the process uses
/// it.
///
/// Another process (`orbweaver user …`) may open the same file at the same time. Readers never wait; a second writer
/// waits for ``busyTimeout`` seconds at most.
package final class GatewayDatabase: Sendable {
    /// Where the database is.
    package enum Location: Equatable, Sendable {
        /// In a file. If the file does not exist it is created, readable by its owner only. Its folder must exist.
        case file(String)
        /// In memory, until the process ends.
        case temporary
    }

    /// How long a writer waits for another one, in seconds.
    package static let busyTimeout = 5.0

    /// The accounts.
    package let users: UserStore
    /// The remembered logins.
    package let logins: LoginStore
    /// The applications that log users in.
    package let applications: ApplicationStore
    /// The address books.
    package let addressBooks: AddressBookStore
    /// The routes of users.
    package let routes: RouteStore
    /// What is known of the recordings of calls.
    package let recordings: RecordingStore
    /// What the administration interface keeps.
    package let administration: AdministrationStore
    private let queue: DatabaseQueue
    /// A connection of its own, so that users and applications can be read while a write waits for another process.
    private let loginQueue: DatabaseQueue
    private let location: Location
    private let journal = Mutex<(store: JournalStore, queue: DatabaseQueue, reader: DatabaseQueue)?>(nil)

    /// Opens the database and brings its schema up to date.
    ///
    /// - Parameter checksPages: whether all pages of the file are looked at before anything is changed. That takes as
    ///   long as reading the file.
    /// - Throws: `StorageError.failed` if the file cannot be created, opened or read as a database, is damaged, or was
    ///   written by a newer version.
    package init(_ location: Location, checksPages: Bool = false, logger: Logger) throws(StorageError) {
        do {
            queue = try Self.open(location)
            if checksPages { try Self.check(queue, at: location, logger) }
            try Self.migrate(queue)
            loginQueue = location == .temporary ? queue : try Self.open(location)
        } catch {
            throw StorageError(error, at: location.description)
        }
        self.location = location
        users = UserStore(queue)
        logins = LoginStore(loginQueue)
        applications = ApplicationStore(queue, lookups: loginQueue)
        addressBooks = AddressBookStore(loginQueue)
        routes = RouteStore(loginQueue)
        recordings = RecordingStore(queue)
        administration = AdministrationStore(queue)
        logger.debug("database open", metadata: [LogKey.path: "\(location)"])
    }

    /// Opens the journal, on a connection of its own; that of a temporary database is a database of its own. To be
    /// called once.
    ///
    /// - Parameter onSetAside: is told how many rows were set aside while the journal was written. Those that
    ///   `contents()` finds are not among them.
    /// - Throws: `StorageError.failed` if the file cannot be opened again.
    package func openJournal(
        _ configuration: JournalStore.Configuration, clock: any RuntimeClock, logger: Logger,
        onSetAside: @escaping @Sendable (Int) -> Void = { _ in }
    ) throws(StorageError) -> JournalStore {
        do {
            let queue = try Self.open(location)
            if location == .temporary { try Self.migrate(queue) }
            let reader = location == .temporary ? queue : try Self.open(location)
            let events = PublicEventLog(
                reader, try queue.read { try PublicEventRows.extent($0) }, isKept: configuration.events > 0,
                clock: clock)
            let store = JournalStore(
                queue, reader: reader, publicEvents: events, configuration: configuration, clock: clock, logger: logger,
                onSetAside: onSetAside)
            journal.withLock { $0 = (store, queue, reader) }
            return store
        } catch {
            throw StorageError(error, at: location.description)
        }
    }

    /// The webhooks of applications, and what they are owed. The journal has to be open.
    package var webhooks: WebhookStore {
        guard let journal = journal.withLock({ $0?.queue }) else { preconditionFailure("the journal is open") }
        return WebhookStore(queue, journal: journal)
    }

    /// Moves the write-ahead log into the file and closes it. Later calls fail.
    ///
    /// - Throws: `StorageError.failed` if the database cannot be closed.
    package func close() throws(StorageError) {
        do {
            if let (store, queue, reader) = journal.withLock({ $0 }) {
                store.close()
                try reader.close()
                try queue.close()
            }
            try loginQueue.close()
            try queue.close()
        } catch {
            throw StorageError(error, at: queue.path)
        }
    }

    // MARK: - Private

    private static func open(_ location: Location) throws -> DatabaseQueue {
        var configuration = GRDB.Configuration()
        configuration.label = "storage"
        configuration.foreignKeysEnabled = true
        configuration.busyMode = .timeout(busyTimeout)
        switch location {
        case .temporary:
            return try DatabaseQueue(configuration: configuration)
        case .file(let path):
            configuration.prepareDatabase { database in
                try database.execute(sql: "PRAGMA journal_mode = WAL")
                // In WAL mode this survives a crash of the process. A loss of power may cost the last transactions,
                // never the file (https://www.sqlite.org/pragma.html#pragma_synchronous).
                try database.execute(sql: "PRAGMA synchronous = NORMAL")
            }
            try createIfMissing(path)
            return try DatabaseQueue(path: path, configuration: configuration)
        }
    }

    /// Creates the file, readable by its owner only. SQLite would create it readable by everyone, and it holds password
    /// hashes. The `-wal` and `-shm` files take over its permissions.
    private static func createIfMissing(_ path: String) throws {
        guard !FileManager.default.fileExists(atPath: path) else { return }
        guard FileManager.default.createFile(atPath: path, contents: nil, attributes: [.posixPermissions: 0o600]) else {
            throw StorageError.failed(
                "\(path) cannot be created: does its folder exist, and may this user write there?")
        }
    }

    /// A file of more bytes may take a second or longer to be checked: the log says what the start waits for.
    private static let announcedSize = 64 << 20

    private static func check(_ queue: DatabaseQueue, at location: Location, _ logger: Logger) throws {
        try queue.read { database in
            let size = try Int.fetchOne(
                database, sql: "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
            if size ?? 0 > announcedSize {
                logger.info("checking the pages of the database", metadata: [LogKey.path: "\(location)"])
            }
            try PageCheck.check(database, at: location.description, naming: 1)
        }
    }

    private static func migrate(_ queue: DatabaseQueue) throws {
        let migrator = Schema.migrator
        guard try queue.read({ try !migrator.hasBeenSuperseded($0) }) else {
            throw StorageError.failed("\(queue.path) was written by a newer version of orbweaver")
        }
        try migrator.migrate(queue)
    }
}

extension GatewayDatabase.Location: CustomStringConvertible {
    /// The path, or `temporary database`.
    package var description: String {
        switch self {
        case .file(let path): path
        case .temporary: "temporary database"
        }
    }
}
