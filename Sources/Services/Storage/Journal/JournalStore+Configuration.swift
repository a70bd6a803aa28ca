extension JournalStore {
    /// How long ended calls, their records and notifications are kept.
    package struct Configuration: Equatable, Sendable {
        /// How long a notification is kept; longer than a client may be away and still be sent it.
        package var notificationAge: Duration
        /// How long the events of a call are kept after its end.
        package var callAge: Duration
        /// How many bytes the events of ended calls may take; the oldest calls make room.
        package var callBytes: Int
        /// How many events of a call that goes on are kept, 2 or more. If there are more, the older half goes, but for
        /// what the next process needs to end the call.
        package var callEvents: Int
        /// The most records of one user; 0 keeps none.
        package var recordsPerUser: Int
        /// The most records of all users together; 0 keeps none. Shortly there may be more.
        package var records: Int
        /// How long a record is kept after the end of its call.
        package var recordAge: Duration
        /// How many events of the public log are kept; 0: only the latest, in memory. Shortly there may be more.
        package var events: Int
        /// How many bytes they may take, their JSON and the names of those who may see them; 0: `usualEventBytes` for
        /// each of `events`. The oldest make room; shortly there may be more.
        package var eventBytes: Int
        /// How long an event of the public log is kept.
        package var eventAge: Duration

        /// The bytes that events may take on average, unless `eventBytes` says it: six times those of one without body.
        package static let usualEventBytes = 2_500
        /// The bytes that events may take in all.
        var largestEvents: Int { eventBytes > 0 ? eventBytes : events * Self.usualEventBytes }

        /// Makes limits of their parts; each parameter is the property of that name.
        package init(
            notificationAge: Duration = .seconds(120), callAge: Duration = .seconds(300), callBytes: Int = 256 << 20,
            callEvents: Int = 2_000,
            recordsPerUser: Int = 100, records: Int = 20_000, recordAge: Duration = .seconds(90 * 86_400),
            events: Int = 200_000, eventBytes: Int = 0, eventAge: Duration = .seconds(3 * 86_400)
        ) {
            self.notificationAge = notificationAge
            self.callAge = callAge
            self.callBytes = callBytes
            self.callEvents = callEvents
            self.recordsPerUser = recordsPerUser
            self.records = records
            self.recordAge = recordAge
            self.events = events
            self.eventBytes = eventBytes
            self.eventAge = eventAge
        }
    }
}
