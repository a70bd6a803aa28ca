package import CallControl

/// A request of a client about calls: the resource, the method, and the body that was read.
package enum ClientRequest: Equatable, Sendable {
    /// `POST …/callControl`: starts a call, or joins two calls (spidr-wire §6.1, §8.7).
    case creation(CallControlRequest)
    /// `POST …/callMe`: a guest starts a call (spidr-wire §7). The body has addresses in place of tokens.
    ///
    /// - Parameter confirmedName: the name that the guest's token confirms; `nil`: the guest chooses its own name.
    case guestCreation(CallMeRequest, confirmedName: String?)
    /// `PUT …/callSessions/{session}`: an operation of a call (spidr-wire §6).
    case operation(CallControlRequest, on: SessionID)
    /// `DELETE …/callSessions/{session}`: the end of a call (spidr-wire §6.7).
    case end(SessionID, reasonText: String?)
    /// `POST …/callSessions/{session}/media`: playback and DTMF digits (docs/client.md).
    case media(MediaRequest, on: SessionID)
    /// `POST …/calldisposition`: a call that rings is rejected or forwarded (spidr-wire §6.4).
    case disposition(CallDispositionRequest)
    /// `POST …/clicktocall`: a call that the gateway places for this user (spidr-wire §10).
    case clickToCall(ClickToCallRequest, by: UserAddress)

    /// What a client's request means to call handling.
    package struct Meaning: Equatable, Sendable {
        /// The request that call handling carries out.
        package var request: CallRequest
        /// The values of the body that are ignored, one sentence each, for `warnings` in the answer. `nil`: all values
        /// count.
        package var warnings: [String]?
        /// The channel of the guest that starts the call; it stands for the guest's device. `nil` in other requests.
        package var channel: ChannelID?

        /// Makes a meaning of its parts; each parameter is the property of that name.
        package init(_ request: CallRequest, warnings: [String]? = nil, channel: ChannelID? = nil) {
            self.request = request
            self.warnings = warnings
            self.channel = channel
        }
    }

    /// What the request asks call handling for.
    ///
    /// - Parameter defaultDomain: completes names and telephone numbers without a domain.
    /// - Throws: the first fault that is found; it names the field.
    package func meaning(defaultDomain: String) throws(RequestFault) -> Meaning {
        switch self {
        case .creation(let body):
            return Meaning(try body.creation(defaultDomain: defaultDomain), warnings: try body.ignoredValues())
        case .guestCreation(let body, let confirmedName):
            return try body.creation(confirmedName: confirmedName, defaultDomain: defaultDomain)
        case .operation(let body, let session):
            return Meaning(
                try body.operation(on: session, defaultDomain: defaultDomain), warnings: try body.ignoredValues())
        case .end(let session, let reasonText): return Meaning(.command(session, .end(reasonText: reasonText)))
        case .media(let body, let session): return Meaning(.command(session, try body.command()))
        case .disposition(let body): return Meaning(try body.disposition(defaultDomain: defaultDomain))
        case .clickToCall(let body, let user):
            return Meaning(.connect(to: try body.target(of: user, defaultDomain: defaultDomain)))
        }
    }
}

// MARK: - The word in each body

extension CallControlRequest {
    /// Operations of the protocol that are refused. The gateway mixes conferences by itself, so it needs no `refer`
    /// (spidr-wire §8.7).
    private static let otherOperations: Set<String> = ["refer"]
    /// Operations of `POST …/callControl`.
    private static let creations: Set<String> = ["callStart", "join"]
    /// Operations of `PUT …/callSessions/{session}`.
    private static let operations: Set<String> = [
        "ringing", "callAnswer", "audit", "startCallUpdate", "respondCallUpdate", "transfer", "sendCustomHeaders",
        "updateIceCandidate",
        "acceptCallReplace", "rejectCallReplace",
    ]

    /// What `type` means in a `POST …/callControl`.
    fileprivate func creation(defaultDomain: String) throws(RequestFault) -> CallRequest {
        switch type {
        case "callStart": .start(try callStart(defaultDomain: defaultDomain))
        case "join":
            .join(
                SessionID(try required(firstSessionData, "firstSessionData")),
                SessionID(try required(secondSessionData, "secondSessionData")),
                CallUpdateRequest(sdp: try required(sdp, "sdp"), content: try content()))
        default: throw refusal(belongsElsewhere: Self.operations, elsewhere: "PUT on the call session")
        }
    }

    /// What `type` means in a `PUT …/callSessions/{session}`.
    fileprivate func operation(on session: SessionID, defaultDomain: String) throws(RequestFault) -> CallRequest {
        guard type == "transfer" else { return .command(session, try command()) }
        return .transfer(
            session, to: try address(required(address, "address"), "address", defaultDomain: defaultDomain),
            consultation: sessionData.flatMap { $0.isEmpty ? nil : SessionID($0) })
    }

    private func command() throws(RequestFault) -> CallCommand {
        switch type {
        case "ringing": .ring
        case "callAnswer": .answer(try callAnswer(acceptsReplacement: false))
        case "acceptCallReplace": .answer(try callAnswer(acceptsReplacement: true))
        case "rejectCallReplace": .reject(replacement: true)
        case "audit": .audit
        case "startCallUpdate": .offer(CallUpdateRequest(sdp: sdp ?? "", content: try content()))
        case "respondCallUpdate": .respond(CallUpdateRequest(sdp: try required(sdp, "sdp"), content: try content()))
        case "updateIceCandidate": .candidates(try candidates())
        case "sendCustomHeaders": .send(try someContent())
        default:
            throw refusal(
                belongsElsewhere: Self.creations,
                elsewhere: "POST on \(envelope == Self.wrapper ? "callControl" : "callMe")")
        }
    }

    private func refusal(belongsElsewhere: Set<String>, elsewhere: String) -> RequestFault {
        if Self.otherOperations.contains(type) {
            .operationNotOffered(type)
        } else if belongsElsewhere.contains(type) {
            .operationOfAnotherResource(type, place: elsewhere)
        } else {
            .unknownOperation
        }
    }
}

extension CallMeRequest {
    /// What a `POST …/callMe` means. A guest can do nothing but start a call.
    fileprivate func creation(
        confirmedName: String?, defaultDomain: String
    ) throws(RequestFault) -> ClientRequest.Meaning {
        let (creation, warnings) = (try call.creation(defaultDomain: defaultDomain), try call.ignoredValues())
        if case .closed(let limit) = creation.guestRule { throw .refused(.notForGuests(limit)) }
        guard case .start(var start) = creation else { throw .unknownOperation }
        guard let notifyChannelId, !notifyChannelId.isEmpty else {
            throw .missing(fields: ["\(call.envelope).notifyChannelId"], reason: "it names the guest's channel")
        }
        // A name is the guest's own choice unless a token confirms it, and must not look like that of an account.
        start.callerName = confirmedName ?? start.callerName.map { "Guest: \($0)" }
        return ClientRequest.Meaning(.start(start), warnings: warnings, channel: ChannelID(notifyChannelId))
    }
}

extension MediaRequest {
    /// What `type` means in a `POST …/callSessions/{session}/media`.
    fileprivate func command() throws(RequestFault) -> CallCommand {
        switch type {
        case "play": .play(try playback(), to: try target())
        case "stop": .stopPlaying(to: try target())
        case "dtmf": .sendDigits(try digitSequence(), to: try target())
        default: throw invalid("type", "must be \"play\", \"stop\" or \"dtmf\"")
        }
    }
}

extension CallDispositionRequest {
    /// What `action` means: what the callee does with the call instead of answering it.
    fileprivate func disposition(defaultDomain: String) throws(RequestFault) -> CallRequest {
        switch action {
        case "reject": .command(SessionID(sessionData), .reject(replacement: false))
        case "forward": .forward(SessionID(sessionData), to: try target(defaultDomain: defaultDomain))
        default: throw .unusable(field: "\(Self.wrapper).action", reason: "must be \"reject\" or \"forward\"")
        }
    }
}
