import CallControl
import Registration
import SPiDR
import Testing

/// What the bodies of requests mean.
struct RequestMeaningTests {
    @Test(
        arguments: [
            (#"{"service":["call"]}"#, SubscriptionRequest(services: ["call"])),
            (#"{"service":["call"],"expires":60}"#, SubscriptionRequest(expires: .seconds(60), services: ["call"])),
            (
                #"{"service":["Call","IM"],"expires":"7200"}"#,
                SubscriptionRequest(expires: .seconds(7200), services: ["Call", "IM"])
            ),
            (#"{"service":["call"],"forceLogOut":true}"#, SubscriptionRequest(services: ["call"], forceLogOut: true)),
            (#"{"service":["call"],"forceLogOut":"True"}"#, SubscriptionRequest(services: ["call"], forceLogOut: true)),
            (#"{"service":["call"],"forceLogOut":"false","expires":null}"#, SubscriptionRequest(services: ["call"])),
            (
                #"{"service":["call"],"supported":["x","ringingfeedback"]}"#,
                SubscriptionRequest(services: ["call"], sendsRingingFeedback: true)
            ),
            (
                #"{"service":[],"clientCorrelator":"device-7","localization":7}"#,
                SubscriptionRequest(services: [], clientCorrelator: "device-7")
            ),
        ] as [(String, SubscriptionRequest)])
    func `a subscription is read in every form clients write`(_ text: String, _ wanted: SubscriptionRequest) throws {
        let body = #"{"subscribeRequest":\#(text),"other":1}"#
        #expect(try read(SubscribeRequest.self, from: body).subscriptionRequest() == wanted)
    }

    @Test(
        arguments: [
            ("sip:Ann@Example.COM;user=phone", "Joe Doe <sip:joe@example.com>", "ann@example.com", "Joe Doe"),
            ("ann@example.com", "sip:joe@example.com", "ann@example.com", nil),
            ("+15550100", nil, "+15550100@here.test", nil),
            ("ann@example.com", "nonsense <", "ann@example.com", nil),
        ] as [(String, String?, String, String?)])
    func `a call start names the callee and the caller's name`(
        _ to: String, _ from: String?, _ callee: String, _ name: String?
    ) throws {
        let request = CallControlRequest(type: "callStart", from: from, to: to, sdp: "v=0\r\n")
        let wanted = CallStartRequest(
            callerName: name, callee: try #require(UserAddress(parsing: callee)), sdp: "v=0\r\n")
        #expect(try ClientRequest.creation(request).meaning() == ClientRequest.Meaning(.start(wanted)))
    }

    @Test(arguments: [("candidate", 1_024), ("sdpMid", 256), ("usernameFragment", 256)])
    func `a candidate is as long as one can be`(_ field: String, _ limit: Int) throws {
        for count in [limit, limit + 1] {
            let text = String(repeating: "t", count: count)
            let line = [#""candidate":"""#, #""\#(field)":"\#(text)""#].suffix(field == "candidate" ? 1 : 2)
            let body = try read(
                CallControlRequest.self,
                from:
                    #"{"callControlRequest":{"type":"updateIceCandidate","iceCandidates":[{\#(line.joined(separator: ","))}]}}"#
            )
            let request = ClientRequest.operation(body, on: SessionID("A1"))
            if count == limit {
                _ = try request.meaning()
            } else {
                let fault = RequestFault.unusable(
                    field: "callControlRequest.iceCandidates.0.\(field)", reason: "has more than \(limit) bytes")
                #expect(throws: fault) { try request.meaning() }
            }
        }
    }

    // MARK: - Click-to-call and address books

    @Test(
        arguments: [
            (nil, "sip:Ann@Example.COM", "ann@example.com"), ("joe@example.com", "+15550100", "+15550100@here.test"),
            ("Joe <sip:JOE@example.com;x=1>", "joe@example.com", "joe@example.com"),
        ] as [(String?, String, String)])
    func `a click-to-call names the target, and nobody but the user as the one to call first`(
        _ calling: String?, _ called: String, _ target: String
    ) throws {
        let joe = try #require(UserAddress(parsing: "joe@example.com"))
        let body = ClickToCallRequest(callingParty: calling, calledParty: called)
        let wanted = CallRequest.connect(to: try #require(UserAddress(parsing: target)))
        #expect(try ClientRequest.clickToCall(body, by: joe).meaning() == ClientRequest.Meaning(wanted))
    }

    @Test(
        arguments: [
            ("ann@example.com", "bob@example.com", "callingParty"), ("", "bob@example.com", "callingParty"),
            ("joe@example.com", "", "calledParty"), (nil, "not an address", "calledParty"),
        ] as [(String?, String, String)])
    func `a click-to-call for somebody else, or to nobody, is refused`(
        _ calling: String?, _ called: String, _ field: String
    ) throws {
        let joe = try #require(UserAddress(parsing: "joe@example.com"))
        let body = ClickToCallRequest(callingParty: calling, calledParty: called)
        let fault = #expect(throws: RequestFault.self) { try ClientRequest.clickToCall(body, by: joe).meaning() }
        #expect(fault?.sentence.contains("clickToCallRequest.\(field)") == true)
    }

    @Test func `an entry of an address book keeps what is known, and is checked field by field`() throws {
        let text = #"{"addressBookRequest":{"addressBookEntries":[{"nickname":"ann","homePhone":"+1","x":1}]}}"#
        let body = try read(AddressBookRequest.self, from: text)
        let ann = AddressBookEntry(nickname: "ann", details: [.homePhone: "+1"], isFriend: false)
        #expect(try body.added(limit: 3) == [ann])
        #expect(try body.replacement(of: "bob", limit: 3) == ann)
        let fault = RequestFault.unusable(
            field: "addressBookRequest.addressBookEntries.0.nickname", reason: "has more than 2 bytes")
        #expect(throws: fault) { try body.added(limit: 2) }
    }

    // MARK: - Words

    private static let session = SessionID("A1")

    @Test(
        arguments: [
            (#"{"type":"ringing"}"#, .ring),
            (#"{"type":"callAnswer","sdp":"v"}"#, .answer(CallAnswerRequest(sdp: "v"))),
            (
                #"{"type":"acceptCallReplace","sdp":"v","supported":["ReplaceCall"]}"#,
                .answer(CallAnswerRequest(sdp: "v", handlesReplacement: true, acceptsReplacement: true))
            ),
            (#"{"type":"rejectCallReplace"}"#, .reject(replacement: true)),
            (#"{"type":"audit"}"#, .audit),
            (#"{"type":"startCallUpdate"}"#, .offer(CallUpdateRequest(sdp: ""))),
            (#"{"type":"respondCallUpdate","sdp":"v"}"#, .respond(CallUpdateRequest(sdp: "v"))),
            (
                #"{"type":"updateIceCandidate","iceCandidates":[{"candidate":"c","sdpMid":"0"}]}"#,
                .candidates([TrickledLine(candidate: "c", mid: "0", mediaIndex: nil, usernameFragment: nil)])
            ),
            (
                #"{"type":"sendCustomHeaders","customParameters":[{"name":"n","value":7}]}"#,
                .send(CustomContent(parameters: [CustomParameter(name: "n", value: "7")], bodies: []))
            ),
        ] as [(String, CallCommand)])
    func `a word of PUT is a command`(_ text: String, _ command: CallCommand) throws {
        let body = try read(CallControlRequest.self, from: #"{"callControlRequest":\#(text)}"#)
        let meaning = try ClientRequest.operation(body, on: Self.session).meaning()
        #expect(meaning == ClientRequest.Meaning(.command(Self.session, command)))
    }

    @Test(arguments: [(nil, nil), ("", nil), ("A2", SessionID("A2"))] as [(String?, SessionID?)])
    func `a transfer has a target, and may have a consultation`(_ text: String?, _ consultation: SessionID?) throws {
        let body = CallControlRequest(type: "transfer", address: "bob", sessionData: text)
        let bob = try #require(UserAddress(parsing: "bob@here.test"))
        let meaning = try ClientRequest.operation(body, on: Self.session).meaning()
        #expect(meaning.request == .transfer(Self.session, to: bob, consultation: consultation))
    }

    @Test func `a join names two sessions`() throws {
        let body = CallControlRequest(type: "join", sdp: "v", firstSessionData: "A1", secondSessionData: "A2")
        let meaning = try ClientRequest.creation(body).meaning()
        #expect(meaning.request == .join(SessionID("A1"), SessionID("A2"), CallUpdateRequest(sdp: "v")))
    }

    @Test(
        arguments: [
            (.audit, true), (.respond(CallUpdateRequest(sdp: "v")), true), (.ring, false),
            (.end(reasonText: nil), false), (.offer(CallUpdateRequest(sdp: "v")), false),
        ] as [(CallCommand, Bool)])
    func `an audit and an answer succeed until the client was told of the end`(
        _ command: CallCommand, _ outlives: Bool
    ) {
        #expect(CallRequest.command(Self.session, command).outlivesCall == outlives)
    }

    @Test func `DELETE is the end of a call, with the user's words`() throws {
        #expect(
            try ClientRequest.end(Self.session, reasonText: "bye").meaning().request
                == .command(Self.session, .end(reasonText: "bye")))
    }

    @Test(
        arguments: [
            (MediaRequest(type: "stop", to: "both"), .stopPlaying(to: .both)),
            (
                MediaRequest(type: "play", source: "file:a.wav", repeat: true, offset: 20),
                .play(Playback(.file("a.wav"), repeats: true, offset: .milliseconds(20)), to: .peer)
            ),
        ] as [(MediaRequest, CallCommand)])
    func `a word of a media request is a command`(_ body: MediaRequest, _ command: CallCommand) throws {
        #expect(try ClientRequest.media(body, on: Self.session).meaning().request == .command(Self.session, command))
    }

    @Test func `a disposition rejects or forwards`() throws {
        let reject = CallDispositionRequest(action: "reject", sessionData: "A1")
        #expect(
            try ClientRequest.disposition(reject).meaning().request
                == .command(Self.session, .reject(replacement: false)))
        let forward = CallDispositionRequest(action: "forward", sessionData: "A1", address: "bob")
        let bob = try #require(UserAddress(parsing: "bob@here.test"))
        #expect(try ClientRequest.disposition(forward).meaning().request == .forward(Self.session, to: bob))
    }

    // MARK: - Guests

    @Test(
        arguments: [
            (nil, nil, nil), ("Joe <sip:joe@x.test>", nil, "Guest: Joe"),
            ("Joe <sip:joe@x.test>", "joe@x.test", "joe@x.test"),
        ] as [(String?, String?, String?)])
    func `a guest is shown by the name of its token, or as a guest`(
        _ from: String?, _ confirmed: String?, _ shown: String?
    ) throws {
        let call = CallControlRequest(type: "callStart", from: from, to: "ann", sdp: "v")
        let body = CallMeRequest(call, notifyChannelId: "channel")
        let meaning = try ClientRequest.guestCreation(body, confirmedName: confirmed).meaning()
        guard case .start(let start) = meaning.request else {
            Issue.record("\(meaning)")
            return
        }
        #expect(start.callerName == shown)
        #expect(meaning.channel == ChannelID("channel"))
    }

    @Test(arguments: ["callMeRequest", "callControlRequest"])
    func `a guest without a channel is told by the key it used`(_ wrapper: String) throws {
        let body = try read(CallMeRequest.self, from: #"{"\#(wrapper)":{"type":"callStart","to":"ann","sdp":"v"}}"#)
        let fault = RequestFault.missing(
            fields: ["\(wrapper).notifyChannelId"], reason: "it names the guest's channel")
        #expect(throws: fault) { try ClientRequest.guestCreation(body, confirmedName: nil).meaning() }
    }

    @Test func `a guest joins no calls`() {
        let join = CallControlRequest(type: "join", sdp: "v", firstSessionData: "A1", secondSessionData: "A2")
        let body = CallMeRequest(join, notifyChannelId: "channel")
        #expect(throws: RequestFault.refused(.notForGuests(.bringingOthers))) {
            try ClientRequest.guestCreation(body, confirmedName: nil).meaning()
        }
    }

    // MARK: - Faults

    @Test(
        arguments: [
            (
                .creation(CallControlRequest(type: "callStart")),
                "The field \"callControlRequest.to\" is missing; \"callStart\" needs it."
            ),
            (
                .creation(CallControlRequest(type: "callStart", to: "a@b@c")),
                "The field \"callControlRequest.to\" is not an address such as sip:ann@example.com."
            ),
            (
                .creation(CallControlRequest(type: "audit")),
                "The operation \"audit\" belongs to another resource: PUT on the call session."
            ),
            (
                .operation(CallControlRequest(type: "callStart"), on: session),
                "The operation \"callStart\" belongs to another resource: POST on callControl."
            ),
            (
                .operation(CallControlRequest(type: "refer"), on: session),
                "The operation \"refer\" is not offered by this gateway."
            ),
            (.operation(CallControlRequest(type: "dance"), on: session), "There is no operation of that name."),
            (
                .operation(CallControlRequest(type: "sendCustomHeaders"), on: session),
                "The field \"callControlRequest.customParameters\" or \"callControlRequest.customBodies\" is missing; \"sendCustomHeaders\" needs one."
            ),
            (
                .operation(CallControlRequest(type: "updateIceCandidate"), on: session),
                "The field \"callControlRequest.iceCandidates\" is missing; \"updateIceCandidate\" needs it."
            ),
            (
                .operation(
                    CallControlRequest(
                        type: "updateIceCandidate",
                        iceCandidates: Array(
                            repeating: CandidateField(
                                TrickledLine(candidate: "", mid: nil, mediaIndex: nil, usernameFragment: nil)),
                            count: 101)), on: session),
                "One request can carry 100 candidates."
            ),
            (
                .media(MediaRequest(type: "play"), on: session),
                "The field \"mediaRequest.source\" is missing; \"play\" needs it."
            ),
            (
                .media(MediaRequest(type: "dtmf"), on: session),
                "The field \"mediaRequest.digits\" is missing; \"dtmf\" needs it."
            ),
            (
                .media(MediaRequest(type: "sing"), on: session),
                "The field \"mediaRequest.type\" must be \"play\", \"stop\" or \"dtmf\"."
            ),
            (
                .disposition(CallDispositionRequest(action: "forward", sessionData: "A1")),
                "The field \"callDispositionRequest.address\" is missing; \"forward\" needs it."
            ),
            (
                .disposition(CallDispositionRequest(action: "ignore", sessionData: "A1")),
                "The field \"callDispositionRequest.action\" must be \"reject\" or \"forward\"."
            ),
        ] as [(ClientRequest, String)])
    func `what cannot be carried out is said in a sentence`(_ request: ClientRequest, _ sentence: String) throws {
        let fault = try #require(#expect(throws: RequestFault.self) { try request.meaning() })
        #expect(fault.sentence == sentence)
    }

    @Test(
        arguments: [
            (SubscribeRequest(expires: 0, service: []), "\"expires\" must be between 1 and 999999999 seconds."),
            (
                SubscribeRequest(service: [], notificationType: "LongPoll"),
                "Notifications of the type \"LongPoll\" are not offered; use \"WebSocket\" or \"LongPolling\"."
            ),
        ] as [(SubscribeRequest, String)])
    func `a subscription that is not to be had is refused in a sentence`(
        _ request: SubscribeRequest, _ sentence: String
    ) throws {
        let fault = try #require(#expect(throws: RequestFault.self) { try request.subscriptionRequest() })
        #expect(fault.sentence == sentence)
    }
}
