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
        try await place(placement(try await openCall(near: users)))
    }

    /// Runs a placement.
    ///
    /// - Returns: the session of the user who asks.
    func place(_ placement: some Placement) async throws(CallError) -> SessionID {
        switch await outcome(of: placement) {
        case .placed(let session), .repeated(let session): return session
        case .failed(let error): throw error
        }
    }

    /// Runs a placement to its end.
    private func outcome(of placement: some Placement) async -> PlacementOutcome {
        var placement = placement
        var actions = placement.start()
        while true {
            var question: PlacementQuestion?
            for action in actions {
                switch action {
                case .ask(let asked): question = asked
                case .detach(let session, let endpoint):
                    environment.router.post(.detach(session), to: endpoint)
                case .forget(let session, let user):
                    _ = await environment.router.ask(.registration(user), .forget(session))
                case .report(let error):
                    environment.logger.warning("early media cannot be played", metadata: [LogKey.error: "\(error)"])
                case .count(let refusal): environment.observer.callRefused(refusal)
                case .settle(let claim, let call, let error):
                    _ = await environment.router.ask(call, .settle(claim, error))
                case .serve(let call): if let owner = owners.call(call) { startedOwners.post(.call(owner)) }
                case .discard(let call, let error): await calls.discard(call, error)
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
            let reply: PlacementReply
            if let endpoint = endpoint(of: user, for: question) {
                reply = await environment.router.ask(endpoint, question) ?? question.ofNobody
            } else {
                reply = question.ofNobody
            }
            guard reply == .absent, question.rings, !environment.push.devices(of: user, account: nil).isEmpty else {
                return reply
            }
            return await wake(user, question)
        case .call(let call, let question): return await environment.router.ask(call, question)
        case .load(let file): return await load(file)
        }
    }

    /// Asks the registration of a user who has none, but devices that a call can wake.
    private func wake(_ user: UserAddress, _ question: UserQuestion) async -> PlacementReply {
        let account: StoredUser?
        do throws(StorageError) {
            account = try await repository.user(user)
        } catch {
            environment.logger.error("callee could not be looked up", metadata: [LogKey.error: "\(error.label)"])
            return question.ofNobody
        }
        // The registrations for push end with the account, perhaps a moment later.
        guard let account else { return question.ofNobody }
        var owner = await users.owner(of: user)
        while true {
            let reply = await owner.reply(to: question, of: account)
            guard reply == .absent else { return reply }
            // It had retired meanwhile.
            owner = await users.owner(of: user, insteadOf: owner)
        }
    }

    /// Who answers a question: about being called, the endpoint of that address; about calling, the user.
    private func endpoint(of user: UserAddress, for question: UserQuestion) -> EndpointAddress? {
        switch question {
        case .attach, .contact: environment.router.endpoint(at: user)
        case .connect: .application(user)
        case .dial, .charge, .recall, .forget, .locate, .identify, .awaitsEnd: .registration(user)
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

extension LocalSwitchboard {
    /// Loads a file into the media plane.
    private func load(_ file: String) async -> PlacementReply {
        do throws(MediaFileError) {
            try await environment.media.load(file: file)
            return .done
        } catch {
            return .failed(.unplayable(error))
        }
    }
}

extension UserQuestion {
    /// Whether it is about ringing the user.
    fileprivate var rings: Bool {
        switch self {
        case .attach(_, _, .rung), .contact(_, .rung): true
        case .attach, .contact, .dial, .connect, .charge, .recall, .forget, .locate, .identify, .awaitsEnd: false
        }
    }

    /// The reply where no such user is registered.
    fileprivate var ofNobody: PlacementReply {
        switch self {
        case .dial, .attach, .contact, .connect, .recall: .absent
        case .locate: .address(nil)
        case .identify: .requester(nil, nil)
        case .awaitsEnd: .endAwaited(false)
        // A user without a registration has no rate to charge. The call finds out that the user is gone.
        case .charge, .forget: .done
        }
    }
}
