package import CallControl
import Primitives
import Synchronization

/// Requests within calls (spidr-wire §8).
extension LocalSwitchboard {
    package func offer(_ user: UserAddress, _ session: SessionID, _ request: CallUpdateRequest) async throws(CallError)
    {
        let (call, leg, device) = try await leg(of: session, for: user, naming: request.device)
        try await call.offer(by: leg, request, from: device)
    }

    package func respond(_ user: UserAddress, _ session: SessionID, _ request: CallUpdateRequest)
        async throws(CallError)
    {
        let (call, leg, device) = try await leg(of: session, for: user, naming: request.device)
        try await call.respond(by: leg, request, from: device)
    }

    package func candidates(_ user: UserAddress, _ session: SessionID, _ candidates: [TrickledLine])
        async throws(CallError)
    {
        let (call, leg) = try await leg(of: session, for: user)
        try await call.candidates(candidates, by: leg)
    }

    package func send(_ user: UserAddress, _ session: SessionID, _ content: CustomContent) async throws(CallError) {
        let (call, leg) = try await leg(of: session, for: user)
        try await call.send(content, by: leg)
    }

    package func forward(_ user: UserAddress, _ session: SessionID, to address: UserAddress) async throws(CallError) {
        let (call, leg) = try await leg(of: session, for: user)
        try await divert(.forward, of: user, call, leg, to: address) { _, reason throws(CallError) in
            throw .unreachable(reason)
        }
    }

    package func transfer(
        _ user: UserAddress, _ session: SessionID, to address: UserAddress, consultation: SessionID?
    ) async throws(CallError) {
        try checkIsNoGuest(user)
        let (call, leg) = try await leg(of: session, for: user)
        if let consultation {
            let other = try await self.leg(of: consultation, for: user)
            let neighbour = Neighbour(owner: other.call, leg: other.leg)
            if try await replace(neighbour, of: user, by: call, leg) { return }
            // The session says which call is meant, whatever the address is; only where nobody is talked to the address says more.
            let party = await neighbour.owner.party(talkingTo: neighbour.leg)?.user ?? address
            return try await call.consult(by: leg, with: party, in: neighbour)
        }
        try await divert(.transfer, of: user, call, leg, to: address) { leg, reason throws(CallError) in
            try await call.transferUnreachable(by: leg, reason)
        }
    }

    /// Offers whom the user consulted the new call in place of the consultation, if both ends that are to talk take that.
    ///
    /// - Returns: Whether it did.
    private func replace(
        _ consultation: Neighbour, of user: UserAddress, by call: CallOwner, _ leg: Leg
    ) async throws(CallError) -> Bool {
        if await call.isReplacing(consultation.owner.id, by: leg) { return true }
        guard consultation.owner.id != call.id, await call.replaceableParty(talkingTo: leg) != nil,
            let known = await consultation.owner.replaceableParty(talkingTo: consultation.leg),
            let registration = await users.existing(known.user)
        else {
            // Nobody can be replaced while somebody is: it may have come twice at once, and the other one was first.
            return await call.isReplacing(consultation.owner.id, by: leg)
        }
        // Who cannot have one more leg changes calls as it is.
        do throws(LegRefusal) {
            guard
                try await registration.contact(besides: call.id, as: .own).devices.contains(
                    where: known.devices.contains)
            else { return false }
        } catch {
            return false
        }
        var random = environment.random.generator
        let target: Leg
        do throws(CallError) {
            try await charge(user)
            target = try await call.takeLeg(for: .transfer, by: leg)
        } catch {
            // It came twice at once, and the other one was first.
            guard await call.isReplacing(consultation.owner.id, by: leg) else { throw error }
            return true
        }
        let session = SessionID(known.user.resourcePrefix + random.nextToken(16, alphabet: .url))
        let contact: RegistrationOwner.Contact
        do throws(LegRefusal) { contact = try await registration.attach(session, target, of: call, as: .own) } catch {
            return false
        }
        let party = CallParty(
            user: known.user, name: known.name, session: session,
            devices: known.devices.filter(contact.devices.contains))
        guard !party.devices.isEmpty else {
            registration.inbox.post(.detach(session))
            return false
        }
        do throws(CallError) {
            try await call.divert(
                .transfer, by: leg, to: party, as: target, registration, replacing: (known.session, in: consultation))
        } catch {
            registration.inbox.post(.detach(session))
            // It came twice at once, and the other one was first.
            guard await call.isReplacing(consultation.owner.id, by: leg) else { throw error }
        }
        return true
    }

    package func join(
        _ user: UserAddress, _ first: SessionID, _ second: SessionID, _ request: CallUpdateRequest
    ) async throws(CallError) -> SessionID {
        guard !isDraining.load(ordering: .acquiring) else { throw .draining }
        try checkIsNoGuest(user)
        let digest = RequestDigest(joining: first, second, request)
        if let earlier = await users.existing(user)?.earlier(digest) {
            try await earlier.call.begun()
            return earlier.session
        }
        let legs = try await (leg(of: first, for: user), leg(of: second, for: user))
        let joined = [Neighbour(owner: legs.0.call, leg: legs.0.leg), Neighbour(owner: legs.1.call, leg: legs.1.leg)]
        guard joined[0].owner.id != joined[1].owner.id else {
            throw .notAllowed(operation: "join", state: "one call only")
        }

        var random = environment.random.generator
        let owner = CallOwner(environment.media.identifier(random.next(), near: joined[0].owner.id), environment)
        let session = SessionID(random.nextToken(16, alphabet: .url))
        try await enter(owner)
        do throws(CallError) {
            guard let registration = await users.existing(user) else { throw .noSuchCall }
            let beginning: RegistrationOwner.Beginning
            do throws(LegRefusal) {
                beginning = try await registration.begin(session, of: owner, with: digest, naming: request.device)
            } catch {
                throw refused(error, to: user, otherwise: .noSuchCall)
            }
            let contact: RegistrationOwner.Contact
            switch beginning {
            case .now(let own): contact = own
            case .before(let session, let call):
                await calls.remove(owner.id)
                try await call.begun()
                return session
            }
            do throws(CallError) {
                let joiner = CallParty(
                    user: user, name: Self.name(contact.displayName, or: user), session: session,
                    devices: contact.devices)
                try await owner.join(joined, request, joiner: joiner, registration: registration)
            } catch {
                registration.inbox.post(.detach(session))
                throw error
            }
        } catch {
            await calls.remove(owner.id)
            await owner.refuse(error)
            throw error
        }
        newcomers.post(.call(owner))
        return session
    }

    /// Counts a call that the user sends to somebody else.
    private func charge(_ user: UserAddress) async throws(CallError) {
        do throws(LegRefusal) {
            try await users.existing(user)?.chargeCall()
        } catch {
            throw refused(error, to: user, otherwise: .noSuchCall)
        }
    }

    /// Rings somebody else in a call that is under way.
    private func divert(
        _ diversion: Diversion, of user: UserAddress, _ call: CallOwner, _ leg: Leg, to address: UserAddress,
        otherwise: (Leg, CallEndCause.Unreachable) async throws(CallError) -> Void
    ) async throws(CallError) {
        guard await !call.isDiverting(diversion, leg, to: address) else { return }
        do throws(CallError) {
            try await ring(diversion, of: user, call, leg, to: address, otherwise: otherwise)
        } catch {
            // It came twice at once, and the other one was first.
            guard await call.isDiverting(diversion, leg, to: address) else { throw error }
        }
    }

    private func ring(
        _ diversion: Diversion, of user: UserAddress, _ call: CallOwner, _ leg: Leg, to address: UserAddress,
        otherwise: (Leg, CallEndCause.Unreachable) async throws(CallError) -> Void
    ) async throws(CallError) {
        try await call.check(diversion, by: leg)
        try await charge(user)
        let registration = await users.existing(address)
        var found: RegistrationOwner.Contact?
        var refusal: LegRefusal?
        do throws(LegRefusal) { found = try await registration?.contact(besides: call.id, as: .rung(by: user)) } catch {
            refusal = error
        }
        let unreachable = try await reasonNotToRing(address, found, refusal, for: user)
        guard let registration, unreachable == nil else {
            return try await otherwise(leg, unreachable ?? .notRegistered)
        }
        let target = try await call.takeLeg(for: diversion, by: leg)
        var random = environment.random.generator
        let session = SessionID(random.nextToken(16, alphabet: .url))
        // From now on no change of the devices is missed.
        let contact: RegistrationOwner.Contact
        do throws(LegRefusal) {
            contact = try await registration.attach(session, target, of: call, as: .rung(by: user))
        } catch {
            return try await otherwise(leg, error == .noDevice ? .notRegistered : .busy)
        }
        let party = CallParty(
            user: address, name: Self.name(contact.displayName, or: address), session: session, devices: contact.devices
        )
        do throws(CallError) {
            try await call.divert(diversion, by: leg, to: party, as: target, registration)
        } catch {
            registration.inbox.post(.detach(session))
            throw error
        }
    }
}
