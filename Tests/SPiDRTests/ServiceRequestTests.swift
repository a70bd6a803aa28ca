import CallControl
import Registration
import SPiDR
import Testing

/// What the bodies of messages, presence and events ask for (spidr-wire §9, §10).
struct ServiceRequestTests {
    private static let ann = UserAddress(parsing: "ann@example.com")!

    @Test func `a message has a receiver and a text, and the rest has values of its own`() throws {
        let body = try read(
            InstantMessageRequest.self, from: #"{"imRequest":{"toUrl":"sip:ann@example.com","message":"hi","x":1}}"#)
        #expect(
            try body.messageRequest(maximumLength: 2, defaultDomain: "here.test")
                == MessageRequest(receiver: Self.ann, text: "hi", type: "A2", charset: "UTF-8"))
        #expect(throws: RequestFault.messageTooLong(limit: 1)) {
            try body.messageRequest(maximumLength: 1, defaultDomain: "here.test")
        }
        let named = InstantMessageRequest(toUrl: "ann", message: "hi", type: "text/html", charset: "ISO-8859-1")
        #expect(
            try named.messageRequest(maximumLength: 9, defaultDomain: "here.test")
                == MessageRequest(
                    receiver: UserAddress(parsing: "ann@here.test")!, text: "hi", type: "text/html",
                    charset: "ISO-8859-1"))
    }

    @Test(arguments: [
        InstantMessageRequest(toUrl: "", message: "hi"), InstantMessageRequest(toUrl: "a b", message: "hi"),
        InstantMessageRequest(toUrl: "ann", message: ""),
        InstantMessageRequest(toUrl: "ann", message: "hi", type: String(repeating: "x", count: 65)),
        InstantMessageRequest(toUrl: "ann", message: "hi", charset: String(repeating: "x", count: 65)),
    ])
    func `a message that cannot be sent is refused by its field`(_ body: InstantMessageRequest) {
        let fault = #expect(throws: RequestFault.self) {
            try body.messageRequest(maximumLength: 9, defaultDomain: "here.test")
        }
        #expect(fault?.sentence.contains("imRequest.") == true)
    }

    @Test func `a presence without activity and note is one of nothing in particular`() throws {
        let body = try read(PresenceRequest.self, from: #"{"presenceRequest":{"status":"open","activity":null}}"#)
        #expect(try body.presence() == Presence(.open))
    }

    @Test func `users who are named twice are meant once`() throws {
        let body = PresenceWatcherRequest(userList: ["ann@example.com", "sip:Ann@example.com", "bob"], action: "get")
        #expect(
            try body.meaning(defaultDomain: "here.test") == .get([Self.ann, UserAddress(parsing: "bob@here.test")!]))
    }

    @Test func `a list that is too long is refused, and so is nobody`() {
        let many = PresenceWatcherRequest(userList: (0..<201).map { "u\($0)" }, action: "watch")
        for body in [many, PresenceWatcherRequest(userList: [], action: "watch")] {
            let fault = #expect(throws: RequestFault.self) { try body.meaning(defaultDomain: "here.test") }
            #expect(fault?.sentence.contains("userList") == true)
        }
    }

    @Test func `events are named by their package, and unknown ones by what there is`() throws {
        #expect(try EventSubscriptionRequest(eventType: "event:Presence").kind() == .presence)
        #expect(try EventSubscriptionRequest(eventType: "event:message-summary").kind() == .messageSummary)
        let fault = #expect(throws: RequestFault.self) { try EventSubscriptionRequest(eventType: "event:reg").kind() }
        #expect(fault == .unknownPackage("event:reg"))
        #expect(
            fault?.sentence
                == #"There are no events of the type "event:reg"; use "event:presence" or "event:message-summary"."#)
    }

    @Test(arguments: [("600", 600), (#""600""#, 600), ("null", nil)] as [(String, Int?)])
    func `the time is a number of seconds, as text, too`(_ text: String, _ seconds: Int?) throws {
        let body = try read(
            EventSubscriptionRequest.self, from: #"{"eventSubscriptionRequest":{"expires":"# + text + "}}")
        #expect(try body.time() == seconds.map { .seconds($0) })
    }
}
