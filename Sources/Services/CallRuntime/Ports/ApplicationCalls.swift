package import AudioStreams
package import CallControl

/// The calls of applications, as `/v1` sees them.
package protocol ApplicationCalls: Sendable {
    /// Sets the applications from now on; those that are gone lose their calls.
    func setApplications(_ applications: [RegisteredApplication]) async

    /// Starts a call from an address of the application.
    ///
    /// - Parameter order: the stream that the gateway opens once the callee has answered; `nil`: none.
    /// - Returns: the new call, which may have ended already if nobody could be rung.
    /// - Throws: `ApplicationRefusal`.
    func start(
        _ request: ApplicationCallRequest, streaming order: StreamOrder?, by application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> ApplicationCall

    /// One call of the application.
    ///
    /// - Throws: `noSuchCall` if it is unknown, forgotten, or another application's.
    func call(
        _ id: SessionID, of application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> ApplicationCall

    /// Calls of the application in the order of their starts; those of the same millisecond in that of their names. A
    /// call that has ended is shown for a minute. A call behind the last one that is returned is not looked at.
    ///
    /// - Parameters:
    ///   - place: the calls behind it are meant; `nil`: from the first one on.
    ///   - limit: the most calls, 1 or more.
    func calls(
        of application: ApplicationIdentity, _ filter: ApplicationCallFilter, after place: ApplicationCallPlace?,
        limit: Int
    ) async -> [ApplicationCall]

    /// Lets a socket carry the audio of a call. Only one can at a time.
    ///
    /// - Returns: the name of the stream, for `closed`.
    /// - Throws: `ApplicationRefusal`; then nothing has changed.
    func open(
        _ link: StreamLink, _ terms: StreamTerms, in id: SessionID, by application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> StreamID

    /// The socket of a stream is gone: the call may have another one. Its program is waited for as the terms say,
    /// unless the stream is over.
    ///
    /// - Parameter loss: what the end of the socket means for the stream.
    func closed(
        _ stream: StreamID, in id: SessionID, by application: ApplicationIdentity, because loss: StreamLoss) async

    /// Has the gateway open the stream of a call, or end it. The answer does not wait for the program.
    ///
    /// - Parameter version: what the application believes to be the version of the call; `nil`: whatever it is.
    /// - Returns: the call afterwards.
    /// - Throws: `ApplicationRefusal`; then nothing has changed.
    func stream(
        _ request: StreamRequest, in id: SessionID, by application: ApplicationIdentity, expecting version: UInt64?
    ) async throws(ApplicationRefusal) -> ApplicationCall

    /// Carries out a command.
    ///
    /// - Parameters:
    ///   - version: what the application believes to be the version of the call; `nil`: whatever it is.
    ///   - trace: the trace of a new call that the command makes; `nil`: that of the call.
    /// - Returns: the call after the command.
    /// - Throws: `ApplicationRefusal`; then nothing has changed.
    func perform(
        _ command: ApplicationCommand, in id: SessionID, by application: ApplicationIdentity,
        expecting version: UInt64?, tracing trace: TraceContext?
    ) async throws(ApplicationRefusal) -> ApplicationCall

    /// Carries out a command that is the first decision about an incoming call, within the time to decide.
    ///
    /// - Returns: the call after the command.
    /// - Throws: `ApplicationRefusal`, `notAllowed` if that is decided already; then nothing has changed.
    func decide(
        by command: ApplicationCommand, in id: SessionID, of application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> ApplicationCall
}

/// Which calls of an application are meant.
package struct ApplicationCallFilter: Equatable, Sendable {
    /// Those that have come this far; `nil`: all.
    package var phase: ApplicationCallPhase?
    /// Those in this direction; `nil`: both.
    package var direction: ApplicationCall.Direction?

    /// Makes a filter of its parts; each parameter is the property of that name.
    package init(phase: ApplicationCallPhase? = nil, direction: ApplicationCall.Direction? = nil) {
        self.phase = phase
        self.direction = direction
    }

    /// Whether a call is meant.
    package func includes(_ call: ApplicationCall) -> Bool {
        (phase.map { $0 == call.state.phase } ?? true) && (direction.map { $0 == call.direction } ?? true)
    }

    /// Whether a call can be meant that may have gone on since this was seen, unless it is over.
    func mayInclude(_ call: ApplicationCall, isOver: Bool) -> Bool {
        guard direction.map({ $0 == call.direction }) ?? true else { return false }
        switch phase {
        case nil: return true
        case let phase? where isOver: return phase == call.state.phase
        // A call that was answered does not ring again.
        case .ringing, .progressing: return call.answeredAt == nil
        case .talking, .held, .ended: return true
        }
    }
}

/// The place of a call in the list of an application's calls. It does not change while the call is shown.
package struct ApplicationCallPlace: Comparable, Sendable {
    /// When the leg became part of a call, in milliseconds since 1970.
    package var time: Int64
    /// The name of the leg.
    package var id: String

    /// Makes a place of its parts; each parameter is the property of that name.
    package init(time: Int64, id: String) {
        self.time = time
        self.id = id
    }

    /// The place of a call.
    package init(of call: ApplicationCall) { self.init(time: call.startedAt, id: call.id.rawValue) }

    /// Whether the first place comes before the second.
    package static func < (first: Self, second: Self) -> Bool { (first.time, first.id) < (second.time, second.id) }
}

extension ApplicationCalls {
    /// Starts a call without a stream.
    ///
    /// - Throws: `ApplicationRefusal`.
    package func start(
        _ request: ApplicationCallRequest, by application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        try await start(request, streaming: nil, by: application)
    }

    /// Carries out a command that has no trace of its own.
    ///
    /// - Throws: `ApplicationRefusal`; then nothing has changed.
    package func perform(
        _ command: ApplicationCommand, in id: SessionID, by application: ApplicationIdentity, expecting version: UInt64?
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        try await perform(command, in: id, by: application, expecting: version, tracing: nil)
    }
}

/// Why a request of an application was refused. The dialect makes the sentence.
package enum ApplicationRefusal: Error, Equatable, Sendable {
    /// A limit that a request would exceed.
    package enum Limit: Equatable, Sendable {
        /// The calls of the application at a time.
        case callsOfApplication
        /// The calls that the application starts in a short time.
        case startsOfApplication
        /// The streams of the application at a time.
        case streamsOfApplication
        /// The calls that a party of the call starts in a short time.
        case startsOfParty
        /// The calls of a party of the call at a time.
        case callsOfParty
        /// The keys that wait to be sent.
        case waitingKeys(limit: Int)
    }

    /// A value of a command that cannot be used.
    package enum InvalidValue: Equatable, Sendable {
        /// A file or a sound that cannot be played.
        case unplayable(MediaFileError)
        /// The command, of this name, names its own call, or another call twice.
        case repeatedCall(ApplicationCommand.Name)
        /// The command, of this name, names a call that is none of the application.
        case unknownCall(SessionID, ApplicationCommand.Name)
    }

    /// The call is unknown, forgotten, or another application's.
    case noSuchCall
    /// The call has another version by now.
    case versionMismatch(ApplicationCall)
    /// The call does not allow what is asked for.
    case notAllowed(ApplicationCall, ApplicationObstacle)
    /// A value cannot be used.
    case invalid(InvalidValue)
    /// A limit is reached. `retryAfter`: the time until it may work; `nil`: nobody knows.
    case limited(Limit, retryAfter: Duration?)
    /// The gateway cannot take the call now: its storage fails, it is stopping, or its media plane is full.
    case unavailable
    /// Applications have no calls here: media goes from peer to peer.
    case notProvided
    /// Calls cannot be recorded here.
    case recordingNotProvided
    /// The call was to come from this address, which is not one of the application.
    case notOwner(UserAddress)
}
