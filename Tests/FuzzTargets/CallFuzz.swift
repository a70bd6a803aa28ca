import CallControl
import Primitives
import SDP

/// The bytes as what clients, devices, media, time and other calls do to two calls of one user, and to the conference
/// of both. Each two of them are a step and a choice; one that is left over says who is an application, with headless
/// legs. A refused command changes nothing, a call ends once and says nothing afterwards, its media is released once,
/// nothing is described to an application, and a timer that has fired is not due again at once.
package func fuzzCalls(_ bytes: Span<UInt8>) {
    var world = FuzzedCalls(applications: bytes.count % 2 == 1 ? bytes[bytes.count - 1] : 0)
    var reader = ByteReader(bytes)
    while let step = reader.readUInt8(), let choice = reader.readUInt8() { world.take(step, choice) }
}

/// Alice calls Bob and Carol, and may bring them together.
private struct FuzzedCalls {
    private typealias Message = (to: Int, deliver: (inout FuzzedCall, MonotonicTime) -> [CallAction])

    private static let names = ["alice", "bob", "carol", "dave"].map { UserAddress(parsing: "\($0)@example.com")! }
    private static let conference = 2

    private var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    private var calls: [FuzzedCall]
    private var messages: [Message] = []
    private var isJoined = false
    /// One bit for each of `names`: it is an application.
    private let applications: UInt8

    init(applications: UInt8) {
        self.applications = applications
        let users = Self.names
        var configuration = Call.Configuration()
        configuration.mediaPolicy = .engine
        func call(_ number: UInt64, to callee: UserAddress) -> FuzzedCall {
            let parties = PerLeg(
                caller: Self.party(users[0], 2 * Int(number), applications),
                callee: Self.party(callee, 2 * Int(number) + 1, applications))
            return FuzzedCall(Call(id: CallID(number), parties: parties, configuration: configuration))
        }
        calls = [
            call(0, to: users[1]), call(1, to: users[2]),
            FuzzedCall(
                Call(id: CallID(2), joiner: Self.party(users[0], 4, applications), configuration: configuration)),
        ]
        for index in calls.indices where index != Self.conference {
            let identities = PerLeg<LegIdentity?>(caller: FuzzedCall.identity, callee: FuzzedCall.identity)
            let isDescribed = index == 0 && !Self.isApplication(0, applications)
            let request = CallStartRequest(
                callee: users[index + 1], sdp: isDescribed ? FuzzedCall.description(of: 0) : "",
                acceptsEarlyMedia: true, handlesReplacement: true)
            perform(index) { call, now in
                try call.call.start(request, media: .anchored(identities), at: now, random: &call.random)
            }
        }
    }

    private static func isApplication(_ place: Int, _ applications: UInt8) -> Bool { applications >> place & 1 == 1 }

    private static func party(_ user: UserAddress, _ number: Int, _ applications: UInt8) -> CallParty {
        let devices = [
            Device(SubscriptionID("\(user)-1"), sendsRingingFeedback: true), Device(SubscriptionID("\(user)-2")),
        ]
        let place = names.firstIndex(of: user) ?? 0
        return CallParty(
            user: user, name: "", session: SessionID("\(number)"),
            endpoint: isApplication(place, applications) ? .application(.silence) : .devices(devices))
    }

    /// Dave, as a new leg of the call.
    private static func target(of call: inout FuzzedCall, _ applications: UInt8) -> CallTarget {
        let isHeadless = isApplication(3, applications)
        let party = CallParty(
            user: names[3], name: "", session: SessionID("dave"),
            endpoint: isHeadless ? .application(.silence) : .devices([Device(SubscriptionID("dave-1"))]))
        return CallTarget(
            leg: call.call.takeLeg(), party: party, identity: isHeadless ? nil : FuzzedCall.identity)
    }

    /// - Parameters:
    ///   - step: what happens.
    ///   - choice: to which call and leg, and in which of its forms.
    mutating func take(_ step: UInt8, _ choice: UInt8) {
        let (index, leg, form) = (Int(choice & 3) % calls.count, LegID(UInt64(choice >> 2 & 3)), Int(choice >> 4))
        switch step % 20 {
        case 0: deliver()
        case 1: pass(.seconds(form))
        case 2: passToDeadline(of: index)
        case 3: join(form)
        case 4: transfer(index, leg)
        case 5: consult(index, leg)
        case 6: forward(index, leg)
        case 7:
            // An application has no devices.
            event(index) { call, now in
                call.isHeadless(leg)
                    ? [] : call.call.deviceChanged(leg, FuzzedCall.change(form, of: leg), at: now)
            }
        case 8: event(index) { call, _ in call.call.mediaAdvanced(leg, to: FuzzedCall.progress(form)) }
        case 9: event(index) { call, _ in call.call.mediaPathChanged(leg, isLost: form % 2 == 0) }
        case 10:
            event(index) { call, now in form < 14 ? [] : call.call.mediaFailed(leg, .consentExpired, at: now) }
        case 11: event(index) { call, _ in call.reported(by: leg, form) }
        default:
            let command =
                calls[index].isHeadless(leg)
                ? FuzzedCall.headlessCommand(Int(step), form) : FuzzedCall.command(Int(step), form)
            self.command(index, leg, command, from: form)
        }
        if form & 1 == 0 { deliver() }
    }

    // MARK: Inputs

    private mutating func command(_ index: Int, _ leg: LegID, _ command: CallCommand, from form: Int) {
        perform(index) { call, now in
            let devices = call.call[leg]?.party.devices ?? []
            let device = devices.indices.contains(form % 3) ? devices[form % 3] : nil
            return try call.call.perform(command, by: leg, from: device, at: now, random: &call.random)
        }
    }

    private mutating func join(_ form: Int) {
        guard !isJoined else { return }
        isJoined = true
        perform(Self.conference) { call, now in
            let isHeadless = call.isHeadless(.caller)
            let request = CallUpdateRequest(sdp: isHeadless ? "" : FuzzedCall.description(of: form))
            return try call.call.join(
                [CallID(0), CallID(1)], request, identity: isHeadless ? nil : FuzzedCall.identity, at: now,
                random: &call.random)
        }
    }

    private mutating func transfer(_ index: Int, _ leg: LegID) {
        perform(index) { [applications] call, now in
            try call.call.checkTransfer(by: leg)
            let target = Self.target(of: &call, applications)
            return try call.call.transfer(by: leg, to: target, at: now, random: &call.random)
        }
    }

    private mutating func forward(_ index: Int, _ leg: LegID) {
        perform(index) { [applications] call, now in
            try call.call.checkForward(by: leg)
            let target = Self.target(of: &call, applications)
            return try call.call.forward(by: leg, to: target, at: now, random: &call.random)
        }
    }

    private mutating func consult(_ index: Int, _ leg: LegID) {
        let other = CallID(UInt64(1 - min(index, 1)))
        perform(index) { call, now in
            try call.call.consult(by: leg, with: Self.names[2], in: other, at: now, random: &call.random)
        }
    }

    private mutating func pass(_ duration: Duration) {
        now = now + duration
        for index in calls.indices { event(index) { call, now in call.timeout(at: now) } }
    }

    private mutating func passToDeadline(of index: Int) {
        guard let deadline = calls[index].call.nextDeadline?.time else { return }
        now = max(now, deadline)
        pass(.zero)
    }

    // MARK: Carrying out

    /// A command either throws and changes nothing, or has actions.
    private mutating func perform(
        _ index: Int, _ command: (inout FuzzedCall, MonotonicTime) throws -> [CallAction]
    ) {
        let before = calls[index].call
        do {
            let actions = try command(&calls[index], now)
            carryOut(actions, of: index)
        } catch {
            precondition(calls[index].call.hasTakenLegs(since: before), "a refused command changes nothing")
        }
    }

    private mutating func event(_ index: Int, _ event: (inout FuzzedCall, MonotonicTime) -> [CallAction]) {
        let actions = event(&calls[index], now)
        carryOut(actions, of: index)
    }

    private mutating func carryOut(_ actions: [CallAction], of index: Int) {
        calls[index].watch(actions)
        let sender = CallID(UInt64(index))
        for case .peerCall(let action) in actions {
            switch action {
            case .requestHandover(let call, _):
                // Alice is the caller of both calls.
                post(call) { to, now in
                    to.call.handoverRequested(by: sender, of: .caller, at: now, random: &to.random)
                }
            case .offerHandover(let call, let handover):
                post(call) { to, now in to.call.handoverOffered(handover, at: now, random: &to.random) }
            case .refuseHandover(let call): post(call) { to, now in to.call.handoverRefused(by: sender, at: now) }
            case .takeHandover(let call, let legs, let purpose):
                post(call) { to, now in to.call.handoverTaken(by: sender, legs, for: purpose, at: now) }
            case .declineHandover(let call):
                post(call) { to, now in to.call.handoverDeclined(by: sender, at: now, random: &to.random) }
            case .passOn(let call, let leg, let event):
                post(call) { to, now in to.call.handle(event, for: leg, at: now) }
            }
        }
    }

    private mutating func post(
        _ call: CallID, _ deliver: @escaping (inout FuzzedCall, MonotonicTime) -> [CallAction]
    ) {
        messages.append((Int(call.rawValue), deliver))
    }

    /// Delivers what calls have told each other until now, in order.
    private mutating func deliver() {
        let due = messages
        messages = []
        for message in due { event(message.to, message.deliver) }
    }
}

/// One call, and what must be true of all that it does.
private struct FuzzedCall {
    var call: Call
    var random = CountingSource()
    private var hasEnded = false
    private var isReleased = false

    init(_ call: Call) { self.call = call }

    mutating func watch(_ actions: [CallAction]) {
        for action in actions {
            // A call that is over still refuses what other calls ask of it.
            if case .peerCall = action { continue }
            precondition(!hasEnded, "nothing follows the end")
            switch action {
            case .event(let event): watch(event)
            case .releaseMedia:
                precondition(!isReleased, "media is released once")
                isReleased = true
            case .prepareMedia(let leg, _), .connectMedia(let leg, _):
                precondition(!isReleased, "media is released last")
                precondition(!isHeadless(leg), "an application has no peer")
            case .prepareHeadless(let leg, _), .say(let leg, _):
                precondition(!isReleased, "media is released last")
                precondition(call[leg] == nil || isHeadless(leg), "only an application has a headless leg")
            case .route, .play, .stopPlaying, .sendDigits, .releaseLeg:
                precondition(!isReleased, "media is released last")
            case .detach, .peerCall: break
            }
        }
    }

    private mutating func watch(_ event: CallEvent) {
        if case .ended = event.fact { hasEnded = true }
        guard let leg = event.leg, isHeadless(leg) else { return }
        precondition(event.audience?.devices.isEmpty != false, "an application has no devices")
        switch event.fact {
        case .invited(_, let invitation):
            precondition(invitation.description == nil, "nothing is described to an application that is invited")
        case .offered(let description, _), .answered(let description, _):
            precondition(description == nil, "nothing is described to an application")
        default: break
        }
    }

    mutating func timeout(at now: MonotonicTime) -> [CallAction] {
        var actions: [CallAction] = []
        for _ in 0..<64 {
            guard let deadline = call.nextDeadline, deadline.time <= now else { return actions }
            actions += call.timeout(at: now, random: &random)
        }
        preconditionFailure("a timer that has fired is not due again at once")
    }

    /// Whether an application has this leg.
    func isHeadless(_ leg: LegID) -> Bool {
        if case .application = call[leg]?.party.endpoint { true } else { false }
    }

    /// What the media plane reports of a leg: a playback, or a list, is over, and a key was pressed.
    mutating func reported(by leg: LegID, _ form: Int) -> [CallAction] {
        let list = PlayedList(number: UInt32(form), tag: nil, heard: 0, outcome: .completed)
        return call.playbackEnded(UInt32(form), for: leg) + (isHeadless(leg) ? call.played(list, by: leg) : [])
            + call.keyPressed(.five, milliseconds: form, by: leg)
    }

    // MARK: Choices

    static let identity = LegIdentity(
        sessionID: 1, canonicalName: "name", streamID: "stream",
        credentials: ICECredentials(ufrag: "ours", password: "password+password+password"),
        fingerprint: Fingerprint(.sha256, digest: [UInt8](repeating: 7, count: 32)),
        candidates: ["1 1 udp 2130706431 192.0.2.1 7000 typ host"])

    static func command(_ step: Int, _ form: Int) -> CallCommand {
        let offer = CallUpdateRequest(sdp: form == 15 ? "" : description(of: form))
        // An answer is an offer where the start was without one.
        let answer = CallUpdateRequest(sdp: description(of: form, setup: form < 8 ? "active" : "actpass"))
        switch step % 12 {
        case 0: return .ring
        case 1, 2: return .answer(CallAnswerRequest(sdp: answer.sdp, handlesReplacement: form % 2 == 0))
        case 3: return form < 14 ? .audit : .reject(replacement: form == 15)
        case 4: return form < 14 ? .audit : .end(reasonText: "over")
        case 5, 6: return .offer(offer)
        case 7, 8: return .respond(answer)
        case 9: return .candidates([TrickledLine(candidate: "1 1 udp 1 192.0.2.7 9 typ host", mid: "0")])
        case 10: return .play(Playback(form % 2 == 0 ? .music : .file("a.wav")), to: form < 8 ? .peer : .both)
        default: return .stopPlaying(to: form < 8 ? .own : .both)
        }
    }

    /// What an application asks for. It has nothing to say about descriptions, and is refused where it does.
    static func headlessCommand(_ step: Int, _ form: Int) -> CallCommand {
        switch step % 12 {
        case 0: .ring
        case 1: .answer(CallAnswerRequest(sdp: "", handlesReplacement: form % 2 == 0))
        case 2: .headless(.progress)
        case 3: form < 12 ? .headless(.hold(form % 2 == 0)) : refusal(form)
        case 4: form < 14 ? .headless(.hold(form % 2 == 1)) : .end(reasonText: "over")
        case 5: form < 8 ? .offer(CallUpdateRequest(sdp: description(of: form))) : .audit
        case 6: form < 8 ? .respond(CallUpdateRequest(sdp: description(of: form, setup: "active"))) : .audit
        case 7: .headless(.become(form % 2 == 0 ? .silence : .echo(delay: .seconds(1))))
        case 8: .headless(.say(form % 2 == 0 ? .stop : .mute(form < 8)))
        case 9: .headless(.gathered(GatheredKeys(keys: [.one], outcome: .maximum, tag: nil)))
        case 10: .play(Playback(.music), to: form < 8 ? .peer : .both)
        default: .stopPlaying(to: form < 8 ? .own : .both)
        }
    }

    private static func refusal(_ form: Int) -> CallCommand {
        form < 14 ? .reject(replacement: form == 13) : .headless(.refuse(form == 14 ? .busy : .noSuchUser))
    }

    static func change(_ form: Int, of leg: LegID) -> DeviceChange {
        let subscription = SubscriptionID("device-\(leg)-\(form % 4)")
        switch form / 4 {
        case 0, 1: return .joined(Device(subscription), replacing: form == 5 ? SubscriptionID("alice-1") : nil)
        case 2: return .left(subscription, othersRemain: form % 2 == 0)
        default: return .channelsOpen(form % 2 == 0)
        }
    }

    static func progress(_ form: Int) -> MediaProgress { MediaProgress.allCases[form % 4] }

    /// A description of a browser: audio with a direction, and video in half of them; one of them is no description.
    static func description(of form: Int, setup: String = "actpass") -> String {
        guard form != 14 else { return "v=1" }
        let direction = ["sendrecv", "sendonly", "recvonly", "inactive"][form % 4]
        let transport = """
            a=rtcp-mux\r\na=ice-ufrag:peer\(form / 8)\r\na=ice-pwd:password+password+password\r\na=setup:\(setup)\r
            a=fingerprint:sha-256 \(Array(repeating: "AB", count: 32).joined(separator: ":"))\r

            """
        let audio =
            "m=audio 9 UDP/TLS/RTP/SAVPF 111\r\nc=IN IP4 0.0.0.0\r\na=mid:0\r\na=\(direction)\r\na=rtpmap:111 opus/48000/2\r\n"
        let video =
            "m=video 9 UDP/TLS/RTP/SAVPF 96\r\nc=IN IP4 0.0.0.0\r\na=mid:1\r\na=sendrecv\r\na=rtpmap:96 VP8/90000\r\n"
        let hasVideo = form & 4 != 0
        return "v=0\r\no=- 1 \(form) IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\(hasVideo ? " 1" : "")\r\n"
            + audio + transport + (hasVideo ? video + transport : "")
    }
}

extension Call {
    /// Whether this is `former`, but for numbers of legs that were taken: they are never given out again.
    fileprivate func hasTakenLegs(since former: Call) -> Bool {
        var former = former
        for _ in 0..<2 where former != self { _ = former.takeLeg() }
        return former == self
    }
}
