package import CallControl
import Logging
import Observability
import Primitives
import Synchronization

/// Requests within calls (spidr-wire §8).
extension LocalSwitchboard {
    /// Carries out a request about calls, counts it and logs it; see `Switchboard`.
    ///
    /// - Throws: `CallError`; `notForGuests` before anything else is looked at.
    package func perform(
        _ request: CallRequest, by user: UserAddress, from device: SubscriptionID?, outlivesCall: Bool
    ) async throws(CallError) -> SessionID {
        try await noting(request.kind) { () async throws(CallError) in
            try await check(request.guestRule, for: user)
            guard !(request.opensCall && environment.newWork.isRefused) else { throw .draining }
            return try await carryOut(request, by: user, from: device, outlivesCall: outlivesCall)
        }
    }

    /// Carries out a command of an application's leg, counts it and logs it like those of users.
    ///
    /// - Throws: `CallError`, with the reason for the refusal.
    func perform(_ command: CallCommand, in session: SessionID, by leg: LegAddress) async throws(CallError) {
        _ = try await noting(command.kind) { () async throws(CallError) in
            try await place(CommandPlacement(command, in: session, by: leg))
        }
    }

    /// Connects a user with a target, from the connector's leg of a call that the user's device has answered. It is
    /// counted and logged like the transfer of a user.
    ///
    /// - Throws: `CallError`, with the reason for the refusal.
    func connect(
        _ session: SessionID, _ leg: LegAddress, for user: UserAddress, to target: UserAddress
    ) async throws(CallError) {
        _ = try await noting(.transfer) { () async throws(CallError) in
            try await place(
                TargetPlacement(
                    .transfer, of: session, by: leg, for: user, to: target, as: newSession(), rejectsBusy: rejectsBusy))
        }
    }

    /// Decides a request, counts it and logs it.
    func noting(
        _ request: CallRequest.Kind, _ decide: () async throws(CallError) -> SessionID
    ) async throws(CallError) -> SessionID {
        do throws(CallError) {
            let session = try await decide()
            note(request, .done)
            return session
        } catch {
            if let refusal = error.refusal { environment.observer.callRefused(refusal) }
            note(request, CallRequest.Outcome(error))
            throw error
        }
    }

    /// Counts and logs a request that has been decided.
    private func note(_ request: CallRequest.Kind, _ outcome: CallRequest.Outcome) {
        environment.observer.callRequested(request, outcome)
        environment.logger.debug(
            "call request",
            metadata: [LogKey.request: "\(request.rawValue)", LogKey.result: "\(outcome.rawValue)"])
    }

    private func carryOut(
        _ request: CallRequest, by user: UserAddress, from device: SubscriptionID?, outlivesCall: Bool
    ) async throws(CallError) -> SessionID {
        switch request {
        case .start(var request):
            request.device = device
            return try await start(request, by: user)
        case .connect(let target): return try await connect(user, to: target)
        case .join(let first, let second, let request):
            let own = newSession()
            return try await open(near: [user]) { call in
                ConferencePlacement(of: (first, second), request, by: user, from: device, in: call, session: own)
            }
        case .forward(let session, let address):
            return try await place(
                TargetPlacement(
                    .forward, of: session, by: user, to: address, as: newSession(), rejectsBusy: rejectsBusy))
        case .transfer(let session, let address, nil):
            return try await place(
                TargetPlacement(
                    .transfer, of: session, by: user, to: address, as: newSession(), rejectsBusy: rejectsBusy))
        case .transfer(let session, let address, let consultation?):
            return try await place(
                ConsultationPlacement(
                    of: session, with: consultation, address: address, by: user, token: newSession().rawValue))
        case .command(let session, let command):
            return try await place(
                CommandPlacement(command, in: session, by: user, from: device, outlivesCall: outlivesCall))
        }
    }

    /// A new name for a leg.
    func newSession() -> SessionID {
        var random = environment.random.generator
        return SessionID(random.nextToken(16, alphabet: .url))
    }
}
