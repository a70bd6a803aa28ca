/// What an application sees of one of its calls.
package struct ApplicationCall: Equatable, Sendable {
    /// Which side the application is on.
    package enum Direction: String, Hashable, Sendable, CaseIterable {
        /// The application was called.
        case incoming
        /// The application called.
        case outgoing
    }

    /// How far the call has come.
    package enum State: Equatable, Sendable {
        /// The call has not been answered.
        case ringing
        /// The call has not been answered, and the caller can hear something: what the callee lets it hear, or what the
        /// gateway plays until the answer.
        case progressing
        /// The call has been answered.
        case talking
        /// The application holds the other legs.
        case held
        /// The call is over for the application. `nil`: it goes on without the application.
        case ended(CallEndCause?)

        /// The state, without the reason of the end.
        package var phase: ApplicationCallPhase {
            switch self {
            case .ringing: .ringing
            case .progressing: .progressing
            case .talking: .talking
            case .held: .held
            case .ended: .ended
            }
        }
    }

    /// Another leg of the call.
    package struct Member: Equatable, Sendable {
        /// The address of the leg's user, `user@domain`.
        package var address: String
        /// The display name; may be empty.
        package var name: String
        /// The leg was rung; otherwise it dialled.
        package var isCalled: Bool
        /// The call as this leg sees it.
        package var state: LegState
        /// The leg holds the others.
        package var holds: Bool

        /// Makes a member of its parts; each parameter is the property of that name.
        package init(address: String, name: String, isCalled: Bool, state: LegState, holds: Bool) {
            self.address = address
            self.name = name
            self.isCalled = isCalled
            self.state = state
            self.holds = holds
        }
    }

    /// What plays.
    package struct Playing: Equatable, Sendable {
        /// The tag of the request; `nil`: it has none.
        package var tag: String?
        /// How many further lists wait.
        package var waiting: Int

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(tag: String?, waiting: Int) {
            self.tag = tag
            self.waiting = waiting
        }
    }

    /// What is gathered.
    package struct Gathering: Equatable, Sendable {
        /// The tag of the request; `nil`: it has none.
        package var tag: String?
        /// The keys so far.
        package var keys: [Key]

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(tag: String?, keys: [Key]) {
            self.tag = tag
            self.keys = keys
        }
    }

    /// A recording of the leg.
    package struct Recorded: Equatable, Sendable {
        /// Its name.
        package var id: RecordingID
        /// The tag of the request; `nil`: it has none.
        package var tag: String?
        /// How far it has come.
        package var state: Recording.State

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(id: RecordingID, tag: String?, state: Recording.State) {
            self.id = id
            self.tag = tag
            self.state = state
        }
    }

    /// How far the stream of the leg has come. The raw value is the word of the `/v1` interface.
    package enum Stream: String, Hashable, Sendable, CaseIterable {
        /// The gateway connects to the program of the stream.
        case connecting
        /// A program speaks and hears.
        case open
        /// The program is gone. The gateway connects again before long, or waits for a program that connects itself.
        case waiting
    }

    /// The name of the leg, which stays the same when it moves to another call.
    package var id: SessionID
    /// The call that the leg is part of.
    package var call: CallID
    /// The application.
    package var application: ApplicationIdentity
    /// Which side the application is on.
    package var direction: Direction
    /// The address that calls.
    package var from: UserAddress
    /// The display name of the caller; may be empty.
    package var fromName: String
    /// The address that is called.
    package var to: UserAddress
    /// How far the call has come.
    package var state: State
    /// Counts everything that the application was told about the leg, and its own commands; 1 or more.
    package var version: UInt64
    /// When the leg became part of a call, in milliseconds since 1970.
    package var startedAt: Int64
    /// When the leg started to talk, in milliseconds since 1970; `nil`: it has not.
    package var answeredAt: Int64?
    /// Until when the application may decide about the call, in milliseconds since 1970; `nil`: that is decided, or it
    /// is not asked.
    package var decideBy: Int64?
    /// The custom parameters that came with the start of the call.
    package var parameters: [CustomParameter]
    /// The application's own text, from the start of an outgoing call; `nil`: none.
    package var context: String?
    /// The trace that the call is part of; `nil`: none.
    package var trace: TraceContext?
    /// The other legs hear nothing of this leg.
    package var isMuted: Bool
    /// The call is a conference: each leg hears all others.
    package var isConference: Bool
    /// What plays; `nil`: nothing.
    package var playing: Playing?
    /// The list that ended last; `nil`: none has ended.
    package var played: PlayedList?
    /// What is gathered; `nil`: nothing.
    package var gathering: Gathering?
    /// The recordings of the leg, in the order in which they started.
    package var recordings: [Recorded]
    /// The stream of the leg, listeners left out; `nil`: there is none.
    package var stream: Stream?
    /// The gateway opens the stream of the leg, and can be asked to end it.
    package var isStreamOfGateway: Bool
    /// The other legs, in the order in which they joined.
    package var members: [Member]

    /// Makes a view of its parts; each parameter is the property of that name.
    package init(
        id: SessionID, call: CallID, application: ApplicationIdentity, direction: Direction, from: UserAddress,
        fromName: String, to: UserAddress, state: State = .ringing, version: UInt64 = 1, startedAt: Int64,
        answeredAt: Int64? = nil, decideBy: Int64? = nil, parameters: [CustomParameter] = [], context: String? = nil,
        trace: TraceContext? = nil, isMuted: Bool = false, isConference: Bool = false, playing: Playing? = nil,
        played: PlayedList? = nil, gathering: Gathering? = nil, recordings: [Recorded] = [], stream: Stream? = nil,
        isStreamOfGateway: Bool = false, members: [Member] = []
    ) {
        self.id = id
        self.call = call
        self.application = application
        self.direction = direction
        self.from = from
        self.fromName = fromName
        self.to = to
        self.state = state
        self.version = version
        self.startedAt = startedAt
        self.answeredAt = answeredAt
        self.decideBy = decideBy
        self.parameters = parameters
        self.context = context
        self.trace = trace
        self.isMuted = isMuted
        self.isConference = isConference
        self.playing = playing
        self.played = played
        self.gathering = gathering
        self.recordings = recordings
        self.stream = stream
        self.isStreamOfGateway = isStreamOfGateway
        self.members = members
    }

    /// Whether it is known who calls whom: in a call that arrives, once the application has been told something.
    package var isIntroduced: Bool { direction == .outgoing || version > 1 }

    /// The commands that the state allows.
    package var allowed: [ApplicationCommand.Name] {
        ApplicationCommand.Name.allCases.filter { allows($0) }
    }

    /// Whether a stream can be opened now, by the gateway or by its program, or one of the gateway be ended. Listeners
    /// are apart from that.
    package var allowsStream: Bool {
        obstacleToStream == nil || (isStreamOfGateway && state.phase != .ended)
    }

    /// Why no stream can be opened now; `nil`: one can. The states are those of `gather`. A program that is waited
    /// for comes back while the call is held as well.
    package var obstacleToStream: ApplicationObstacle? {
        let obstacle = awaitsProgram && state.phase == .held ? nil : obstacleToSound
        if let obstacle { return obstacle }
        return stream == nil || awaitsProgram ? nil : .hasStream
    }

    /// Whether a program that has opened its stream itself is gone, and is waited for.
    package var awaitsProgram: Bool { stream == .waiting && !isStreamOfGateway }

    /// Why neither a stream nor a listener could be heard or hear now; `nil`: they can.
    var obstacleToSound: ApplicationObstacle? {
        state.phase.allows(.gather, direction) ? nil : .stateForStream(state.phase)
    }

    private func allows(_ command: ApplicationCommand.Name) -> Bool {
        guard state.phase.allows(command, direction) else { return false }
        return switch command {
        case .transfer: !isConference
        case .leave: isConference && members.count { $0.state.isEstablished } > 1
        case .ring, .progress, .answer, .reject, .end, .hold, .resume, .bridge, .join, .mute, .unmute, .send, .keys,
            .play, .stop, .gather, .record:
            true
        }
    }

    /// Why the call does not allow a command, which is not among `allowed`.
    package func obstacle(to command: ApplicationCommand.Name) -> ApplicationObstacle {
        guard state.phase.allows(command, direction) else { return .state(state.phase, command) }
        return command == .leave ? .fewerThanTwoOthers : .conference(command)
    }
}

/// How far the call of an application has come. The raw value is the word of the `/v1` interface.
package enum ApplicationCallPhase: String, Hashable, Sendable, CaseIterable {
    /// See `ApplicationCall.State.ringing`.
    case ringing
    /// See `ApplicationCall.State.progressing`.
    case progressing
    /// See `ApplicationCall.State.talking`.
    case talking
    /// See `ApplicationCall.State.held`.
    case held
    /// See `ApplicationCall.State.ended`.
    case ended

    /// Whether a call that has come this far allows the command.
    package func allows(_ command: ApplicationCommand.Name, _ direction: ApplicationCall.Direction) -> Bool {
        switch (self, direction) {
        case (.ringing, .incoming):
            switch command {
            case .ring, .progress, .answer, .reject, .end, .transfer: true
            case .hold, .resume, .bridge, .join, .leave, .mute, .unmute, .send, .keys, .play, .stop, .gather, .record:
                false
            }
        case (.progressing, .incoming):
            switch command {
            case .progress, .answer, .reject, .end, .transfer, .mute, .unmute, .keys, .play, .stop, .gather, .record:
                true
            case .ring, .hold, .resume, .bridge, .join, .leave, .send: false
            }
        case (.ringing, .outgoing): command == .end
        case (.progressing, .outgoing):
            switch command {
            case .end, .mute, .unmute, .stop, .gather, .record: true
            case .ring, .progress, .answer, .reject, .hold, .resume, .transfer, .bridge, .join, .leave, .send, .keys,
                .play:
                false
            }
        case (.talking, _):
            switch command {
            case .end, .hold, .transfer, .bridge, .join, .leave, .mute, .unmute, .send, .keys, .play, .stop, .gather,
                .record:
                true
            case .ring, .progress, .answer, .reject, .resume: false
            }
        case (.held, _):
            switch command {
            case .end, .resume, .transfer, .bridge, .join, .leave, .mute, .unmute, .send, .stop, .record: true
            case .ring, .progress, .answer, .reject, .hold, .keys, .play, .gather: false
            }
        case (.ended, _): false
        }
    }
}
