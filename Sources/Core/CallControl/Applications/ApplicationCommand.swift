/// A command of an application about one of its calls.
package enum ApplicationCommand: Equatable, Sendable {
    /// Tells the caller that the call rings.
    case ring
    /// Lets the caller hear something before the answer; without a list it hears silence, or what it heard before.
    case progress(PlayList?)
    /// Takes the call. Parameters and bodies go to the caller.
    case answer(CustomContent)
    /// Refuses the call.
    case reject(RejectCause)
    /// Ends the call. `reasonText`: words for the other legs; `nil`: none.
    case end(reasonText: String?)
    /// Holds the other legs.
    case hold
    /// Holds the other legs no more.
    case resume
    /// Rings this address in place of the application. Before the answer the call is forwarded.
    case transfer(to: UserAddress)
    /// Connects the other leg with the one of another call of the application, which leaves both.
    case transferToCall(SessionID)
    /// Lets the other leg talk to the one of another call of the application.
    case bridge(SessionID, BridgeRole)
    /// Makes one call of this one and these. The application has one leg of it, and each leg hears all others.
    case join([SessionID])
    /// Leaves a conference, in which the others go on.
    case leave
    /// The other legs hear nothing of this leg, whatever plays.
    case mute
    /// The other legs hear this leg again.
    case unmute
    /// Sends parameters and bodies to the other legs.
    case send(CustomContent)
    /// Sends DTMF digits to the other legs.
    case keys(DigitSequence)
    /// Plays something to the other legs.
    case play(PlayRequest)
    /// Stops what plays and waits, and what gathers.
    case stop
    /// Gathers the keys that the other legs press.
    case gather(GatherRequest)
    /// Records the leg, or pauses or ends that.
    case record(RecordCommand)

    /// The most other calls that `join` can name.
    package static let maximumJoined = 8

    /// The name of a command, which is the last segment of its path.
    package enum Name: String, Hashable, Sendable, CaseIterable {
        /// See `ApplicationCommand.ring`.
        case ring
        /// See `ApplicationCommand.progress`.
        case progress
        /// See `ApplicationCommand.answer`.
        case answer
        /// See `ApplicationCommand.reject`.
        case reject
        /// See `ApplicationCommand.end`.
        case end
        /// See `ApplicationCommand.hold`.
        case hold
        /// See `ApplicationCommand.resume`.
        case resume
        /// See `ApplicationCommand.transfer`.
        case transfer
        /// See `ApplicationCommand.bridge`.
        case bridge
        /// See `ApplicationCommand.join`.
        case join
        /// See `ApplicationCommand.leave`.
        case leave
        /// See `ApplicationCommand.mute`.
        case mute
        /// See `ApplicationCommand.unmute`.
        case unmute
        /// See `ApplicationCommand.send`.
        case send
        /// See `ApplicationCommand.keys`.
        case keys
        /// See `ApplicationCommand.play`.
        case play
        /// See `ApplicationCommand.stop`.
        case stop
        /// See `ApplicationCommand.gather`.
        case gather
        /// See `ApplicationCommand.record`.
        case record
    }

    /// The name of this command.
    package var name: Name {
        switch self {
        case .ring: .ring
        case .progress: .progress
        case .answer: .answer
        case .reject: .reject
        case .end: .end
        case .hold: .hold
        case .resume: .resume
        case .transfer, .transferToCall: .transfer
        case .bridge: .bridge
        case .join: .join
        case .leave: .leave
        case .mute: .mute
        case .unmute: .unmute
        case .send: .send
        case .keys: .keys
        case .play: .play
        case .stop: .stop
        case .gather: .gather
        case .record: .record
        }
    }

    /// The list that the command has played; `nil`: it has none.
    package var list: PlayList? {
        switch self {
        case .progress(let list): list
        case .play(let request): request.list
        case .gather(let request): request.prompt
        case .ring, .answer, .reject, .end, .hold, .resume, .transfer, .transferToCall, .bridge, .join, .leave, .mute,
            .unmute, .send, .keys, .stop, .record:
            nil
        }
    }

    /// What the command does with other calls of the application; `nil`: it is about one call.
    package var bridging: Bridging? {
        switch self {
        case .transferToCall(let other), .bridge(let other, .leave): .connect(other)
        case .bridge(let other, let role): .join([other], isMuted: role == .listen)
        case .join(let others): .join(others, isMuted: false)
        case .ring, .progress, .answer, .reject, .end, .hold, .resume, .transfer, .leave, .mute, .unmute, .send, .keys,
            .play, .stop, .gather, .record:
            nil
        }
    }

    /// How calls of an application come together.
    package enum Bridging: Equatable, Sendable {
        /// The other leg is connected with the one of this call, and the application leaves both.
        case connect(SessionID)
        /// All become one call, which has a new leg of the application. `isMuted`: the others do not hear that leg.
        case join([SessionID], isMuted: Bool)

        /// The sessions of the other calls.
        package var others: [SessionID] {
            switch self {
            case .connect(let other): [other]
            case .join(let others, _): others
            }
        }
    }
}

/// What an application does while two of its calls talk to each other. The raw value is the word of the `/v1`
/// interface.
package enum BridgeRole: String, Hashable, Sendable, CaseIterable {
    /// It hears both, and both hear it.
    case stay
    /// It hears both, and nobody hears it until it unmutes.
    case listen
    /// It is part of neither call any more.
    case leave
}

/// A wish of an application to have something played.
package struct PlayRequest: Equatable, Sendable {
    /// What happens to what plays already.
    package enum Mode: String, Hashable, Sendable, CaseIterable {
        /// It stops, and what waits is dropped.
        case replace
        /// It goes on, and the new list follows.
        case queue
    }

    /// The most lists that wait for one that plays.
    package static let maximumWaiting = 32
    /// The longest tag, in bytes of UTF-8.
    package static let maximumTagLength = 128

    /// What is played.
    package var list: PlayList
    /// What happens to what plays already.
    package var mode: Mode
    /// The application's own name for it, which comes back in events; `nil`: none.
    package var tag: String?

    /// Makes a request of its parts; each parameter is the property of that name.
    ///
    /// - Throws: `ApplicationFault` if the tag is too long.
    package init(list: PlayList, mode: Mode = .replace, tag: String? = nil) throws(ApplicationFault) {
        if let tag { try Self.check(tag: tag) }
        self.list = list
        self.mode = mode
        self.tag = tag
    }

    /// Checks the length of a tag.
    ///
    /// - Throws: `ApplicationFault` if the tag is too long.
    static func check(tag: String) throws(ApplicationFault) {
        guard tag.utf8.count <= maximumTagLength else { throw .tagLength(limit: maximumTagLength) }
    }
}

/// A call that an application wants to start.
package struct ApplicationCallRequest: Equatable, Sendable {
    /// The permitted times to ring.
    package static let ringTimeouts = Duration.seconds(1)...Duration.seconds(600)
    /// The longest context, in bytes of UTF-8.
    package static let maximumContextLength = 1_024

    /// The address to call.
    package var to: UserAddress
    /// The address of the application that calls; it must be its own.
    package var from: UserAddress
    /// The display name that the callee sees; `nil`: that of the application.
    package var displayName: String?
    /// How long the callee is rung; `nil`: as long as the gateway rings at most. A longer time has no effect.
    package var ringTimeout: Duration?
    /// The application wants to hear what there is before the answer: the callee, or what the gateway plays.
    package var earlyMedia: Bool
    /// Parameters and bodies for the callee.
    package var content: CustomContent
    /// The application's own text, which comes back in the view of the call; `nil`: none.
    package var context: String?
    /// The recording that starts once the application can hear something; `nil`: none.
    package var record: RecordRequest?
    /// The trace of the request; `nil`: it is part of none.
    package var trace: TraceContext?

    /// Makes a request of its parts; each parameter is the property of that name.
    ///
    /// - Throws: `ApplicationFault` if a value is out of its range.
    package init(
        to: UserAddress, from: UserAddress, displayName: String? = nil, ringTimeout: Duration? = nil,
        earlyMedia: Bool = false, content: CustomContent = CustomContent(), context: String? = nil,
        record: RecordRequest? = nil, trace: TraceContext? = nil
    ) throws(ApplicationFault) {
        guard ringTimeout.map(Self.ringTimeouts.contains) ?? true else { throw .ringTimeout(Self.ringTimeouts) }
        guard (context?.utf8.count ?? 0) <= Self.maximumContextLength else {
            throw .contextLength(limit: Self.maximumContextLength)
        }
        self.to = to
        self.from = from
        self.displayName = displayName
        self.ringTimeout = ringTimeout
        self.earlyMedia = earlyMedia
        self.content = content
        self.context = context
        self.record = record
        self.trace = trace
    }
}
