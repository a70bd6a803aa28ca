import CallControl
import CallRuntime
import EventServer
import Storage

extension EventResponder {
    /// The events of this gateway's calls, for its applications and users.
    init(
        of journal: JournalStore, calls: any Administration, applications: ApplicationStore, users: any UserRepository,
        clock: any RuntimeClock
    ) {
        let log = journal.publicEvents
        self.init(
            EventReading.Sources(log: log, calls: calls, journal: journal, clock: clock),
            applications: { identity in
                // A reader that is sent away comes back with its place.
                let found = try? await applications.application(identity.name)
                return found?.identity == identity && found?.profile.scopes.contains(.events) == true
            },
            // The same for a user while the database cannot be read.
            users: { user in ((try? await users.user(user)) ?? nil) != nil },
            end: { log.finish() })
    }
}
