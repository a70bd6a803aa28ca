import CallControl
import Logging
import Observability
import Primitives

/// Carries the questions of placements to the owners that they name.
extension LocalSwitchboard {
    /// Makes the owner of a new call, and places the call.
    ///
    /// - Parameters:
    ///   - users: users whose calls the new one should share a media worker with, in case they are brought together
    ///     later.
    ///   - placement: makes the placement of the call with this id.
    /// - Returns: the session of the user who asks.
    func open(
        near users: [UserAddress], _ placement: (CallID) -> some Placement
    ) async throws(CallError) -> SessionID {
        var random = environment.random.generator
        let owner = CallOwner(environment.media.identifier(random.next(), near: nearbyCall(of: users)), environment)
        try await calls.insert(owner)
        switch await outcome(of: placement(owner.id)) {
        case .placed(let session):
            newcomers.post(.call(owner))
            return session
        case .repeated(let session):
            await calls.remove(owner.id)
            return session
        case .failed(let error):
            await calls.remove(owner.id)
            await owner.refuse(error)
            throw error
        }
    }

    /// Runs a placement to its end.
    func outcome(of placement: some Placement) async -> PlacementOutcome {
        var placement = placement
        var actions = placement.start()
        while true {
            var question: PlacementQuestion?
            for action in actions {
                switch action {
                case .ask(let asked): question = asked
                case .detach(let session, let user):
                    environment.owners.detach(session, of: user)
                case .forget(let session, let user):
                    await environment.owners.registration(of: user)?.forgetRequest(of: session)
                case .count(let refusal): environment.observer.callRefused(refusal)
                case .settle(let claim, let call, let error): await environment.owners.call(call)?.settle(claim, error)
                case .finish(let outcome): return outcome
                }
            }
            guard let question else { preconditionFailure("a placement asks, or is finished") }
            actions = placement.handle(await reply(to: question))
        }
    }

    /// Asks the owner that a question names.
    private func reply(to question: PlacementQuestion) async -> PlacementReply {
        switch question {
        case .account(let user): return await account(user)
        case .user(let user, let question):
            guard let owner = owner(of: user, for: question) else { return question.ofNobody }
            return await owner.reply(to: question)
        case .call(let call, let question):
            guard let owner = environment.owners.call(call) else { return .failed(.noSuchCall) }
            return await owner.reply(to: question)
        }
    }

    /// Who answers a question: about being called, the endpoint of that address; about calling, the user.
    private func owner(of user: UserAddress, for question: UserQuestion) -> (any EndpointOwner)? {
        switch question {
        case .attach, .contact: environment.owners.endpoint(of: user)
        case .dial, .charge, .recall, .locate: environment.owners.registration(of: user)
        }
    }

    /// Whether there is such an account.
    private func account(_ user: UserAddress) async -> PlacementReply {
        do throws(StorageError) {
            return .account(try await repository.user(user) != nil)
        } catch {
            environment.logger.error("callee could not be looked up", metadata: [LogKey.error: "\(error.label)"])
            return .failed(.storageUnavailable)
        }
    }
}

extension UserQuestion {
    /// The reply where no such user is registered.
    fileprivate var ofNobody: PlacementReply {
        switch self {
        case .dial, .attach, .contact, .recall: .absent
        case .locate: .address(nil)
        // A user without a registration has no rate to charge. The call finds out that the user is gone.
        case .charge: .done
        }
    }
}
