/// What the gateway is to do with the audio of a headless leg: what others hear of it, and what is recorded.
package enum Speech: Equatable, Sendable {
    /// Plays a list. `number` and `tag` come back in `PlayedList`; the leg has used the number for nothing else.
    case play(PlayList, number: UInt32, tag: String?, PlayRequest.Mode)
    /// Stops what plays, and drops what waits.
    case stop
    /// Stops the list of this number, whether it plays or waits. What waits behind it goes on; a list that is over is
    /// ignored.
    case stopList(UInt32)
    /// Others hear nothing, whatever plays, until this is taken back. What plays goes on.
    case mute(Bool)
    /// What plays stands still, until this is taken back.
    case pause(Bool)
    /// While no list plays, others hear what this stream says, and the stream is sent what the leg hears, until its
    /// socket is gone.
    case stream(StreamID)
    /// Does this about the recording of the leg.
    case record(RecordingOrder)
}

/// A list that was played, or was to be.
package struct PlayedList: Hashable, Sendable, Codable {
    /// Why a list plays no more. The raw value is the word of events.
    package enum Outcome: String, Hashable, Sendable, CaseIterable, Codable {
        /// It was played to its end.
        case completed
        /// It was stopped.
        case stopped
        /// Something else was played in its place.
        case replaced
        /// It could not be played.
        case failed
        /// The call was over for the leg before the end of the list.
        case callEnded
    }

    /// The number of the list within its leg.
    package var number: UInt32
    /// The tag of the request; `nil`: it had none.
    package var tag: String?
    /// How much of it others could hear, in milliseconds. A list that is repeated counts every time.
    package var heard: Int
    /// Why it plays no more.
    package var outcome: Outcome

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(number: UInt32, tag: String?, heard: Int, outcome: Outcome) {
        self.number = number
        self.tag = tag
        self.heard = heard
        self.outcome = outcome
    }
}

/// What a gathering of keys has come to.
package struct GatheredKeys: Hashable, Sendable, Codable {
    /// Why a gathering has ended. The raw value is the word of events.
    package enum Outcome: String, Hashable, Sendable, CaseIterable, Codable {
        /// A terminator was pressed.
        case terminator
        /// There are as many keys as may be.
        case maximum
        /// The keys are one of the valid answers.
        case valid
        /// No further key came in time.
        case timeout
        /// It was stopped, or another one took its place.
        case stopped
        /// The call was over for the leg.
        case callEnded
    }

    /// The keys, in the order in which they were pressed, without the terminator.
    package var keys: [Key]
    /// Why the gathering has ended.
    package var outcome: Outcome
    /// The tag of the request; `nil`: it had none.
    package var tag: String?

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(keys: [Key], outcome: Outcome, tag: String?) {
        self.keys = keys
        self.outcome = outcome
        self.tag = tag
    }

    /// The keys as text.
    package var text: String { keys.map(\.rawValue).joined() }
}

/// A request about a headless leg, by the application that hears it.
package enum HeadlessCommand: Equatable, Sendable {
    /// The caller hears the leg before the answer.
    case progress
    /// Refuses the call, for this reason.
    case refuse(CallEndCause.Unreachable)
    /// Holds the other legs; or holds them no more.
    case hold(Bool)
    /// The other legs hear this source from now on while no list plays.
    case become(HeadlessSource)
    /// Does something with the audio of the leg.
    case say(Speech)
    /// Makes known what the application's gathering of keys has come to.
    case gathered(GatheredKeys)
}

extension HeadlessCommand {
    /// What the command asks for.
    var kind: CallRequest.Kind {
        switch self {
        case .progress: .progress
        case .refuse: .reject
        case .hold(true): .hold
        case .hold(false): .resume
        case .say(.play): .play
        case .say(.stop), .say(.stopList): .stopPlaying
        case .say(.mute), .say(.pause): .mute
        case .say(.stream): .play
        case .say(.record): .record
        case .become: .play
        case .gathered: .gather
        }
    }
}

extension CallCommand {
    /// Whether the command stops what plays, or one list of it.
    var isStop: Bool {
        guard case .headless(.say(let speech)) = self else { return false }
        return switch speech {
        case .stop, .stopList: true
        case .play, .mute, .pause, .stream, .record: false
        }
    }
}
