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
        _ request: CallRequest, by user: UserAddress, from device: SubscriptionID?
    ) async throws(CallError) -> SessionID {
        do throws(CallError) {
            try await check(request.guestRule, for: user)
            guard !(request.opensCall && isDraining.load(ordering: .acquiring)) else { throw .draining }
            let session = try await carryOut(request, by: user, from: device)
            note(request.kind, .done)
            return session
        } catch {
            // The gateway, or a media worker, carries as many calls as it may.
            if error == .limitOfCalls { environment.observer.callRefused(.gatewayCalls) }
            note(request.kind, CallRequest.Outcome(error))
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
        _ request: CallRequest, by user: UserAddress, from device: SubscriptionID?
    ) async throws(CallError) -> SessionID {
        switch request {
        case .start(var request):
            request.device = device
            return try await start(request, by: user)
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
            do throws(CallError) {
                let (call, leg, device) = try await leg(of: session, for: user, naming: device)
                if case .play(let playback, _) = command { try await load(playback, for: leg, of: call) }
                try await carryOut(command, by: leg, of: call, from: device)
            } catch {
                guard error == .noSuchCall, command.isExpectedAfterEnd,
                    await users.existing(user)?.awaitsEnd(of: session, naming: device) == true
                else { throw error }
            }
            return session
        }
    }

    /// A request that meets a handover is carried out by the call that has the leg afterwards.
    private func carryOut(
        _ command: CallCommand, by leg: LegID, of call: CallOwner, from device: Device?
    ) async throws(CallError) {
        do throws(CallError) {
            try await call.perform(command, by: leg, from: device)
        } catch {
            let place: LegAddress
            switch error {
            case .pending: place = await call.place(of: leg)
            // The leg may have changed calls since it was looked up.
            case .noSuchCall:
                place = await call.place(of: leg)
                guard place.call != call.id else { throw error }
            case .alreadyAnswered, .notAllowed, .unreachable, .malformedDescription, .descriptionTooLong,
                .unsupportedDescription, .descriptionMissing, .unplayable, .digitsWaiting, .notForGuests, .unsupported,
                .limitOfCalls, .limitOfLegs, .tooManyCalls, .storageUnavailable, .draining:
                throw error
            }
            guard let taker = environment.owners.call(place.call) else { throw .noSuchCall }
            try await taker.perform(command, by: place.leg, from: device)
        }
    }

    /// Runs a placement in a call that exists.
    private func place(_ placement: some Placement) async throws(CallError) -> SessionID {
        switch await outcome(of: placement) {
        case .placed(let session), .repeated(let session): return session
        case .failed(let error): throw error
        }
    }

    /// A new name for a leg.
    private func newSession() -> SessionID {
        var random = environment.random.generator
        return SessionID(random.nextToken(16, alphabet: .url))
    }

    /// Loads a file, which has to be loaded before it is played.
    private func load(_ playback: Playback, for leg: LegID, of call: CallOwner) async throws(CallError) {
        guard case .file(let name) = playback.source else { return }
        try await call.checkPlay(by: leg)
        do throws(MediaFileError) {
            try await environment.media.load(file: name)
        } catch {
            throw .unplayable(error)
        }
    }
}
