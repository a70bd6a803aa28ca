package import AudioStreams
package import CallControl
import Primitives

/// Applications, which have calls without being a phone.
extension LocalSwitchboard: ApplicationCalls {
    /// Sets the applications from now on; those that are gone lose their calls. Where media goes from peer to peer
    /// there are none.
    package func setApplications(_ applications: [RegisteredApplication]) async { register(applications) }

    /// Makes the owners of applications that are new, and tells those of others what has changed.
    func register(_ applications: [RegisteredApplication]) {
        // A headless leg needs the gateway's media.
        guard environment.configuration.media == .anchored else { return }
        for owner in owners.setApplications(applications, making: { ApplicationOwner($0, environment) }) {
            startedOwners.post(.application(owner))
        }
    }

    /// Starts a call from an address of the application.
    ///
    /// - Throws: `ApplicationRefusal`.
    package func start(
        _ request: ApplicationCallRequest, streaming order: StreamOrder?, by application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        guard environment.configuration.media == .anchored else { throw .notProvided }
        guard let owner = owners.application(application) else { throw .unavailable }
        return try await owner.start(request, streaming: order, asking: self)
    }

    /// One call of the application.
    ///
    /// - Throws: `noSuchCall`.
    package func call(
        _ id: SessionID, of application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        guard let owner = owners.application(application) else { throw .noSuchCall }
        return try await owner.call(id, asking: self)
    }

    /// Calls of the application, in the order of their starts.
    package func calls(
        of application: ApplicationIdentity, _ filter: ApplicationCallFilter, after place: ApplicationCallPlace?,
        limit: Int
    ) async -> [ApplicationCall] {
        await owners.application(application)?.calls(filter, after: place, limit: limit, asking: self) ?? []
    }

    /// Carries out a command.
    ///
    /// - Throws: `ApplicationRefusal`.
    package func perform(
        _ command: ApplicationCommand, in id: SessionID, by application: ApplicationIdentity,
        expecting version: UInt64?, tracing trace: TraceContext?
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        guard let owner = owners.application(application) else { throw .noSuchCall }
        return try await owner.perform(command, in: id, expecting: version, tracing: trace, asking: self)
    }

    /// Carries out a command that is the first decision about an incoming call.
    ///
    /// - Throws: `ApplicationRefusal`.
    package func decide(
        by command: ApplicationCommand, in id: SessionID, of application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        guard let owner = owners.application(application) else { throw .noSuchCall }
        return try await owner.perform(command, in: id, expecting: nil, isDecision: true, asking: self)
    }
}

// MARK: - Streams

extension LocalSwitchboard {
    /// Lets a socket carry the audio of a call.
    ///
    /// - Throws: `ApplicationRefusal`.
    package func open(
        _ link: StreamLink, _ terms: StreamTerms, in id: SessionID, by application: ApplicationIdentity
    ) async throws(ApplicationRefusal) -> StreamID {
        guard let owner = owners.application(application) else { throw .noSuchCall }
        return try await owner.open(link, terms, in: id, asking: self)
    }

    /// Has the gateway open the stream of a call, or end it.
    ///
    /// - Throws: `ApplicationRefusal`.
    package func stream(
        _ request: StreamRequest, in id: SessionID, by application: ApplicationIdentity, expecting version: UInt64?
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        guard let owner = owners.application(application) else { throw .noSuchCall }
        return try await owner.stream(request, in: id, expecting: version, asking: self)
    }

    /// The socket of a stream is gone.
    package func closed(
        _ stream: StreamID, in id: SessionID, by application: ApplicationIdentity, because loss: StreamLoss
    ) async {
        environment.media.remove(stream)
        await owners.application(application)?.closed(stream, in: id, because: loss)
    }
}

// MARK: - Recordings

extension LocalSwitchboard: RecordingNews {
    /// Tells the owner of the application that a recording is over.
    package func recordingEnded(_ recording: Recording) {
        owners.application(recording.application)?.recordingEnded(recording.id, in: recording.session)
    }
}

// MARK: - What their owners ask for

extension LocalSwitchboard {
    /// Makes the owner of a new call.
    ///
    /// - Parameter users: users whose calls the new one should share a media worker with.
    /// - Throws: `draining`, or `limitOfCalls`.
    func openCall(near users: [UserAddress]) async throws(CallError) -> CallID {
        try await openCall(near: nearbyCall(of: users))
    }

    /// Makes the owner of a new call.
    ///
    /// - Parameter call: a call that the new one should share a media worker with; `nil`: any worker will do.
    /// - Throws: `draining`, or `limitOfCalls`.
    func openCall(near call: CallID?) async throws(CallError) -> CallID {
        var random = environment.random.generator
        let owner = CallOwner(environment.media.identifier(random.next(), near: call), environment)
        try await calls.insert(owner)
        return owner.id
    }

    /// Removes a call that `openCall` has made, and that is not to be placed.
    func discard(_ call: CallID) async { await calls.discard(call, nil) }

    /// Places the call of an application, which has its leg already. It is counted and logged like that of a user.
    ///
    /// - Throws: `CallError`, with the reason for the refusal.
    func place(
        _ request: ApplicationCallRequest, by application: RegisteredApplication, in call: CallID,
        as session: SessionID
    ) async throws(CallError) {
        var start = CallStartRequest(
            callee: request.to, sdp: "", acceptsEarlyMedia: request.earlyMedia, content: request.content)
        start.ringTime = request.ringTimeout
        var caller = CallParty(
            user: request.from, name: request.displayName ?? application.displayName, session: session,
            endpoint: .application(.silence, of: application.identity))
        caller.trace = request.trace
        let callee = newSession()
        _ = try await noting(.start) { () async throws(CallError) in
            try await place(
                ApplicationPlacement(
                    start, by: caller, in: call, callee: callee, rejectsBusy: rejectsBusy,
                    earlyMedia: environment.configuration.call.earlyMedia))
        }
    }

    /// Connects the party of one call of an application with that of another. It is counted and logged like the
    /// consultative transfer of a user.
    ///
    /// - Throws: `CallError`, with the reason for the refusal.
    func connect(_ leg: ApplicationLeg, with other: ApplicationLeg) async throws(CallError) {
        _ = try await noting(.transfer) { () async throws(CallError) in
            try await place(
                ConsultationPlacement(
                    of: leg.view.id, by: leg.place, for: leg.own, with: other.place, of: other.own,
                    token: newSession().rawValue))
        }
    }

    /// Makes one call of several calls of an application, which has its leg of it already. It is counted and logged
    /// like the join of a user.
    ///
    /// - Parameters:
    ///   - name: the display name of the application.
    ///   - trace: the trace that the call is part of; `nil`: none.
    /// - Throws: `CallError`, with the reason for the refusal.
    func join(
        _ legs: [ApplicationLeg], as session: SessionID, named name: String, in call: CallID,
        tracing trace: TraceContext?
    ) async throws(CallError) {
        guard let first = legs.first else { throw .noSuchCall }
        var joiner = CallParty(
            user: first.own, name: name, session: session,
            endpoint: .application(.silence, of: first.view.application))
        joiner.trace = trace
        let keepers = legs.map { ($0.place.call, $0.own) }
        _ = try await noting(.join) { () async throws(CallError) in
            try await place(
                HeadlessConferencePlacement(
                    of: legs.map(\.place), keepers: Dictionary(keepers) { first, _ in first }, by: joiner, in: call))
        }
    }

    /// Rings a target in place of an application. It is counted and logged like that of a user.
    ///
    /// - Parameters:
    ///   - retargeting: a forward before the answer, a transfer after it.
    ///   - user: the application's address in the call, by which the target is rung.
    /// - Throws: `CallError`, with the reason for the refusal.
    func retarget(
        _ retargeting: Retargeting, _ session: SessionID, _ leg: LegAddress, for user: UserAddress,
        to target: UserAddress
    ) async throws(CallError) {
        _ = try await noting(retargeting.kind) { () async throws(CallError) in
            try await place(
                TargetPlacement(
                    retargeting, of: session, by: leg, for: user, to: target, as: newSession(),
                    rejectsBusy: rejectsBusy))
        }
    }
}
