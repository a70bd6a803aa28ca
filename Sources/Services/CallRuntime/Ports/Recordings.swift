package import CallControl

/// Takes the audio of recordings from the media plane. Every function may be called on any thread, and returns at once.
package protocol AudioRecorder: Sendable {
    /// Takes 20 ms of 48 kHz, in as many channels as the recording has; two are interleaved, left first.
    ///
    /// - Returns: whether the recording goes on. It does not if it could not be written.
    func take(_ samples: [Int16], of recording: RecordingID) -> Bool
    /// Takes packets of Opus for a recording that is written as Ogg and has one channel, in the order of the file.
    ///
    /// - Returns: as above.
    func take(_ packets: [RecordedPacket], of recording: RecordingID) -> Bool
    /// Takes note of what happens to a recording, in the order of its audio.
    func note(_ step: RecordingStep, of recording: RecordingID)
    /// Takes note of so many packets that a recording left out: they were more than the time has room for, or came too
    /// late.
    func noteDropped(_ packets: Int)
}

/// A packet of Opus that is recorded as it came.
package struct RecordedPacket: Equatable, Sendable {
    /// The packet.
    package let bytes: [UInt8]
    /// Samples of 48 kHz that it decodes to, 120 to 5,760.
    package let samples: Int

    /// Makes a packet of its parts; each parameter is the property of that name.
    package init(bytes: [UInt8], samples: Int) {
        self.bytes = bytes
        self.samples = samples
    }
}

/// What happens to a recording.
package enum RecordingStep: Equatable, Sendable {
    /// It starts, behind the tone if there is one.
    case started
    /// What is said is left out from now on.
    case paused
    /// What is said is recorded again.
    case resumed
    /// It is over.
    case over(RecordingEnd)
}

/// Records nothing.
package struct NoRecorder: AudioRecorder {
    /// Makes it.
    package init() {}
    /// Returns `false`.
    package func take(_ samples: [Int16], of recording: RecordingID) -> Bool { false }
    /// Returns `false`.
    package func take(_ packets: [RecordedPacket], of recording: RecordingID) -> Bool { false }
    /// Does nothing.
    package func note(_ step: RecordingStep, of recording: RecordingID) {}
    /// Does nothing.
    package func noteDropped(_ packets: Int) {}
}

/// The recordings of applications.
package protocol Recordings: Sendable {
    /// Whether calls can be recorded here.
    var areProvided: Bool { get }
    /// Makes the file of a recording that is about to start, and keeps what is known of it.
    ///
    /// - Throws: `notProvided`, `unavailable`.
    func open(_ recording: Recording) async throws(RecordingFault)
    /// Removes a recording that has not started, since the call does not allow it.
    func discard(_ id: RecordingID) async
    /// The recordings of an application in the order of their starts; those of the same millisecond in that of their
    /// names.
    ///
    /// - Throws: `unavailable`.
    func recordings(
        of application: ApplicationIdentity, _ filter: RecordingFilter, after place: RecordingPlace?, limit: Int
    ) async throws(RecordingFault) -> [Recording]
    /// A recording of an application.
    ///
    /// - Throws: `notFound` if it is unknown, or another application's; `unavailable`.
    func recording(_ id: RecordingID, of application: ApplicationIdentity) async throws(RecordingFault) -> Recording
    /// The file of a recording that is over.
    ///
    /// - Throws: `notFound`, also if the file is gone; `notEnded`; `unavailable`.
    func audio(
        of id: RecordingID, of application: ApplicationIdentity
    ) async throws(RecordingFault) -> (recording: Recording, file: any RecordedFile)
    /// Removes a recording that is over, and its file.
    ///
    /// - Returns: what it was.
    /// - Throws: `notFound`, `notEnded`, `unavailable`.
    func remove(_ id: RecordingID, of application: ApplicationIdentity) async throws(RecordingFault) -> Recording
}

/// Why something cannot be done with recordings.
package enum RecordingFault: Error, Equatable, Sendable {
    /// No folder for recordings is configured.
    case notProvided
    /// The recording is unknown, or another application's.
    case notFound
    /// The recording goes on.
    case notEnded
    /// The disk or the database refuses.
    case unavailable
}

/// Which recordings are meant.
package struct RecordingFilter: Equatable, Sendable {
    /// Those of this leg; `nil`: of all.
    package var session: SessionID?
    /// Those in this state; `nil`: in any.
    package var state: Recording.State?
    /// Those with this tag; `nil`: with any, and those without.
    package var tag: String?

    /// Makes a filter of its parts; each parameter is the property of that name.
    package init(session: SessionID? = nil, state: Recording.State? = nil, tag: String? = nil) {
        self.session = session
        self.state = state
        self.tag = tag
    }
}

/// A place in the list of recordings.
package struct RecordingPlace: Equatable, Sendable {
    /// When a recording was asked for, in milliseconds since 1970.
    package var time: Int64
    /// The name of that recording.
    package var id: String

    /// Makes a place of its parts; each parameter is the property of that name.
    package init(time: Int64, id: String) {
        self.time = time
        self.id = id
    }
}

/// The file of a recording. It can be read to its end although the recording is removed meanwhile.
package protocol RecordedFile: Sendable {
    /// How many bytes it has.
    var size: Int { get }
    /// Reads bytes; `nil` if the disk refuses.
    func read(_ place: Range<Int>) async -> [UInt8]?
}

/// Where nothing can be recorded.
package struct NoRecordings: Recordings {
    /// Makes it.
    package init() {}
    /// They are not.
    package var areProvided: Bool { false }
    /// Throws `notProvided`.
    package func open(_ recording: Recording) async throws(RecordingFault) { throw .notProvided }
    /// Does nothing.
    package func discard(_ id: RecordingID) async {}
    /// There are none. Throws nothing.
    package func recordings(
        of application: ApplicationIdentity, _ filter: RecordingFilter, after place: RecordingPlace?, limit: Int
    ) async throws(RecordingFault) -> [Recording] { [] }
    /// Throws `notFound`.
    package func recording(
        _ id: RecordingID, of application: ApplicationIdentity
    ) async throws(RecordingFault) -> Recording { throw .notFound }
    /// Throws `notFound`.
    package func audio(
        of id: RecordingID, of application: ApplicationIdentity
    ) async throws(RecordingFault) -> (recording: Recording, file: any RecordedFile) { throw .notFound }
    /// Throws `notFound`.
    package func remove(
        _ id: RecordingID, of application: ApplicationIdentity
    ) async throws(RecordingFault) -> Recording { throw .notFound }
}

/// Is told when recordings are over.
package protocol RecordingNews: Sendable {
    /// A recording is over, and its file can be fetched.
    func recordingEnded(_ recording: Recording)
}

/// What is kept of recordings. Implemented by `Storage`. Every function throws `StorageError.failed` if the database
/// refuses.
package protocol RecordingRepository: Sendable {
    /// Adds a recording.
    func add(_ recording: Recording) async throws(StorageError)
    /// Writes how far a recording has come. One that was removed stays removed.
    func change(_ recording: Recording) async throws(StorageError)
    /// Removes a recording.
    func remove(_ id: RecordingID) async throws(StorageError)
    /// A recording; `nil`: there is none of that name.
    func recording(_ id: RecordingID) async throws(StorageError) -> Recording?
    /// The recordings of an application, as in ``Recordings``. A paused one counts as one that is recorded.
    func recordings(
        of application: ApplicationIdentity, _ filter: RecordingFilter, after place: RecordingPlace?, limit: Int
    ) async throws(StorageError) -> [Recording]
    /// The recordings that were not over when they were last written.
    func unfinished() async throws(StorageError) -> [Recording]
    /// The oldest recordings that are over: all that ended before a time, in milliseconds since 1970, and as many more
    /// as have to go so that the others have so many bytes together; and those whose application is gone.
    func surplus(endedBefore time: Int64, bytes: Int) async throws(StorageError) -> [Recording]
}
