import CallControl
import Primitives

/// Commands that bring calls of an application together. They are what clients do by a consultative transfer and by a
/// join (spidr-wire §8.5, §8.7), and the same machine decides them.
extension ApplicationOwner {
    /// Carries out a command about several calls.
    ///
    /// - Parameter trace: the trace of the new call; `nil`: that of the call that is asked.
    /// - Returns: the call after the command; the new one if the calls become one.
    /// - Throws: `ApplicationRefusal`; then nothing has changed.
    func perform(
        _ command: ApplicationCommand, _ bridging: ApplicationCommand.Bridging, in session: SessionID,
        expecting version: UInt64?, tracing trace: TraceContext?, asking switchboard: LocalSwitchboard
    ) async throws(ApplicationRefusal) -> ApplicationCall {
        let sessions = [session] + bridging.others
        guard Set(sessions).count == sessions.count else { throw .invalid(.repeatedCall(command.name)) }
        // All in the same order, so that two such commands never wait for each other.
        let order = sessions.sorted { $0.rawValue < $1.rawValue }
        for each in order { await turn(of: each) }
        defer { for each in order { pass(each) } }
        let before = try await check(command, in: session, expecting: version, asking: switchboard)
        // Before the answer there is `transfer` alone, and that to an address.
        guard before.allowed.contains(.join) else { throw .notAllowed(before, .unanswered) }
        for other in bridging.others {
            guard let view = await look(at: other, asking: switchboard) else {
                throw .invalid(.unknownCall(other, command.name))
            }
            guard view.allowed.contains(.join) else { throw .notAllowed(before, .otherCall(view.state.phase)) }
            if case .connect = bridging, before.isConference || view.isConference {
                throw .notAllowed(before, .conferenceAmongCalls)
            }
        }
        do throws(CallError) {
            switch bridging {
            case .connect(let other):
                guard let own = legs[before.id], let second = legs[other] else { throw .noSuchCall }
                try await switchboard.connect(own, with: second)
                _ = edit(before.id) { $0.finish(command) }
                return try await shown(before.id, asking: switchboard)
            case .join(_, let isMuted):
                var first = before
                first.trace = trace ?? before.trace
                return try await join(first, bridging.others, isMuted, asking: switchboard)
            }
        } catch {
            let after = try await call(before.id, asking: switchboard)
            throw ApplicationRefusal(error, in: after)
        }
    }

    /// Makes one call of several, with a new leg of the application. The others follow in a few messages, and then the
    /// old legs are over.
    ///
    /// - Parameter first: the call that was asked, with the trace that the new one is to have.
    private func join(
        _ first: ApplicationCall, _ others: [SessionID], _ isMuted: Bool, asking switchboard: LocalSwitchboard
    ) async throws(CallError) -> ApplicationCall {
        guard !environment.newWork.isRefused, !isRetired else { throw .draining }
        if let wait = charge()?.wait { throw .tooManyCalls(retryAfter: wait) }
        let call = try await switchboard.openCall(near: first.call)
        let joined = ([first.id] + others).compactMap { legs[$0] }.filter { !$0.isOver }
        guard joined.count == others.count + 1, let own = joined.first?.own else {
            await switchboard.discard(call)
            throw .noSuchCall
        }
        let session = switchboard.newSession()
        insert(
            ApplicationLeg(
                joining: first, own: own, name: application.displayName, as: session,
                at: LegAddress(call: call, leg: .caller), isMuted: isMuted,
                time: environment.clock.epochMilliseconds),
            as: session)
        do throws(CallError) {
            try await switchboard.join(
                joined, as: session, named: application.displayName, in: call, tracing: first.trace)
        } catch {
            remove(session)
            throw error
        }
        return try await shown(session, asking: switchboard)
    }

    private func shown(
        _ session: SessionID, asking switchboard: LocalSwitchboard
    ) async throws(CallError) -> ApplicationCall {
        guard let view = await look(at: session, asking: switchboard) else { throw .noSuchCall }
        return view
    }
}

extension LegRefusal {
    /// How long until another call may be started; `nil`: time does not help.
    fileprivate var wait: Duration? {
        switch self {
        case .tooOften(let wait): wait
        case .noDevice, .limitOfLegs, .limitOfRinging: nil
        }
    }
}
