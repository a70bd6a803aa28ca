import CallControl
import EventAPI
import Foundation
import Testing

private let alice = UserAddress(parsing: "alice@example.com")!
private let bob = UserAddress(parsing: "bob@example.com")!
private let carl = UserAddress(parsing: "carl@bots.example.com")!

private func event(_ number: Int64, _ type: String = "leg.held", call: String = "1", of users: [UserAddress] = [alice])
    -> PublicEvent
{
    PublicEvent(
        number: number, call: call, type: type, time: number, scope: EventScope(users.map { LegHolder.user($0) }),
        json: Array(#"{"type":"\#(type)"}"#.utf8))
}

private let everything = EventSelection(reader: .everything)

/// Who may see an event, and who wants it.
struct EventSelectionTests {
    @Test func `a user and an application see the calls that they have or had a leg of, and no others`() throws {
        let bots = try #require(ApplicationIdentity("bots#1"))
        let support = try #require(ApplicationIdentity("support#2"))
        let scope = EventScope([.user(alice), .application(bots), .user(alice), .application(bots)])
        #expect(scope.addresses == [alice] && scope.applications == [bots])
        #expect(EventReader.everything.sees(scope))
        #expect(EventReader.user(alice).sees(scope) && !EventReader.user(bob).sees(scope))
        #expect(EventReader.application(bots).sees(scope) && !EventReader.application(support).sees(scope))
        // An application sees nothing of a user who has one of its addresses, nor such a user of the application.
        let next = ApplicationIdentity(name: bots.name, number: bots.number + 1)
        #expect(!EventReader.application(next).sees(scope), "one that has the name of a removed one")
        #expect(!EventReader.application(bots).sees(EventScope([.user(carl)])) && !EventReader.user(carl).sees(scope))
    }

    @Test func `types are whole or start so, and calls are numbers`() throws {
        let chosen = try EventSelection(reader: .everything, types: "call.ended,leg.*", calls: "0AB,1")
        #expect(chosen.includes(event(1, "call.ended", call: "ab")) && chosen.includes(event(1, "leg.held")))
        #expect(!chosen.includes(event(1, "call.answered")) && !chosen.includes(event(1, "legs.held")))
        #expect(!chosen.includes(event(1, "call.ended", call: "2")))
        let all = try EventSelection(reader: .user(alice), types: "", calls: nil)
        #expect(all.includes(event(1)) && !all.includes(event(1, of: [bob])))
    }

    @Test(arguments: ["call", "*", "call.*.x", "Call.ended", "call.", ".ended", "call.en*", "call.ended;x"])
    func `what is no type is named`(_ type: String) {
        #expect(throws: EventSelection.Fault.unusableType(type)) {
            try EventSelection(reader: .everything, types: "leg.held,\(type)", calls: nil)
        }
    }

    @Test func `what is no call is named, and a list has a limit`() {
        #expect(throws: EventSelection.Fault.unusableCall("xyz")) {
            try EventSelection(reader: .everything, types: nil, calls: "1,xyz")
        }
        #expect(throws: EventSelection.Fault.tooMany(64)) {
            try EventSelection(
                reader: .everything, types: nil, calls: (0...64).map { String($0, radix: 16) }.joined(separator: ","))
        }
    }

    @Test func `a cursor is read as it is written`() {
        #expect(EventCursor("a1_Z-17") == EventCursor(log: "a1_Z", number: 17))
        #expect("\(EventCursor(log: "ab", number: 9))" == "ab-9")
        for text in ["", "ab", "-1", "ab-", "ab-x", "ab-1-2", "a b-1", "ab--1", "ab-99999999999999999999"] {
            #expect(EventCursor(text) == nil, "\(text)")
        }
        #expect(EventPlace("oldest") == .oldest && EventPlace("newest") == nil)
        #expect(EventPlace("ab-9") == .after(EventCursor(log: "ab", number: 9)))
    }
}

/// The latest events, and who waits for the next ones.
struct EventFeedTests {
    @Test func `who has everything waits, and is told what comes`() {
        var feed = EventFeed(last: 10, capacity: 8, byteLimit: 1 << 20)
        #expect(feed.ask(1, after: 10, everything, limit: 9) == .wait)
        let told = feed.publish([event(12), event(13)])
        #expect(told.map(\.subscriber) == [1])
        #expect(told.first?.page == EventPage(events: [event(12), event(13)], through: 13))
        #expect(feed.publish([event(14)]).isEmpty, "nobody waits any more")
        #expect(feed.ask(1, after: 13, everything, limit: 9) == .page(EventPage(events: [event(14)], through: 14)))
    }

    @Test func `events that a subscriber does not want move its place on`() {
        var feed = EventFeed(last: 0, capacity: 8, byteLimit: 1 << 20)
        let ofBob = EventSelection(reader: .user(bob))
        #expect(feed.ask(1, after: 0, ofBob, limit: 9) == .wait)
        #expect(feed.publish([event(1), event(2)]).isEmpty)
        #expect(feed.leave(1) == EventPage(through: 2))
        #expect(feed.leave(1) == nil)
        #expect(feed.ask(2, after: 0, ofBob, limit: 9) == .wait)
        #expect(feed.leave(2) == EventPage(through: 2))
    }

    @Test func `a page has a limit, and the next one goes on behind it`() {
        var feed = EventFeed(last: 0, capacity: 8, byteLimit: 1 << 20)
        _ = feed.publish((1...5).map { event($0, of: $0 == 2 ? [bob] : [alice]) })
        let ofAlice = EventSelection(reader: .user(alice))
        #expect(
            feed.ask(1, after: 0, ofAlice, limit: 2) == .page(EventPage(events: [event(1), event(3)], through: 3)))
        #expect(
            feed.ask(1, after: 3, ofAlice, limit: 2) == .page(EventPage(events: [event(4), event(5)], through: 5)))
    }

    @Test func `what is not among the latest is in the table`() {
        var feed = EventFeed(last: 10, capacity: 8, byteLimit: 1 << 20)
        #expect(feed.ask(1, after: 9, everything, limit: 9) == .older(through: 10))
        _ = feed.publish((11...19).map { event($0) })
        // Of nine events six stay.
        #expect(feed.start == 13)
        #expect(feed.ask(1, after: 12, everything, limit: 9) == .older(through: 13))
        guard case .page(let page) = feed.ask(1, after: 13, everything, limit: 9) else {
            Issue.record("it is there")
            return
        }
        #expect(page.events.map(\.number) == Array(14...19))
    }

    @Test func `large events let others go before there are many, and nobody misses one`() {
        func sized(_ number: Int64) -> PublicEvent {
            var large = event(number)
            large.json = [UInt8](repeating: 32, count: 240)
            return large
        }
        var feed = EventFeed(last: 10, capacity: 100, byteLimit: 1_000)
        _ = feed.publish((11...14).map(sized))
        #expect(feed.start == 10)
        _ = feed.publish([sized(15)])
        // Of 1,200 bytes 720 stay.
        #expect(feed.start == 12)
        #expect(feed.ask(1, after: 11, everything, limit: 9) == .older(through: 12))
        #expect(
            feed.ask(1, after: 12, everything, limit: 9)
                == .page(EventPage(events: (13...15).map(sized), through: 15)))
        #expect(feed.ask(1, after: 15, everything, limit: 9) == .wait)
        let told = feed.publish((16...21).map(sized))
        #expect(told.map(\.page) == [EventPage(events: (16...21).map(sized), through: 21)])
        #expect(feed.start == 18)
    }

    @Test func `at the end all who wait are told, and nobody waits any more`() {
        var feed = EventFeed(last: 3, capacity: 8, byteLimit: 1 << 20)
        #expect(feed.ask(1, after: 3, everything, limit: 9) == .wait)
        #expect(feed.finish().map(\.page) == [EventPage(through: 3, isOver: true)])
        #expect(feed.ask(2, after: 3, everything, limit: 9) == .page(EventPage(through: 3, isOver: true)))
    }

    @Test func `random subscribers get each event that they want once and in order`() throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            var random = Steps(state: seed)
            // Some let events go by their number, others by their bytes.
            var feed = EventFeed(last: 0, capacity: 16, byteLimit: seed.isMultiple(of: 2) ? 1 << 20 : 200)
            var table: [PublicEvent] = []
            var places: [UInt64: (place: Int64, got: [Int64], selection: EventSelection)] = [:]
            for subscriber in 0..<6 as Range<UInt64> {
                places[subscriber] = (0, [], EventSelection(reader: subscriber < 3 ? .user(alice) : .everything))
            }
            func take(_ subscriber: UInt64, _ page: EventPage) {
                places[subscriber]?.place = page.through
                places[subscriber]?.got += page.events.map(\.number)
            }
            for _ in 0..<200 {
                if random.next(3) == 0 {
                    let new = (0..<random.next(5)).map { index in
                        event(Int64(table.count + index + 1) * 3, of: random.next(2) == 0 ? [alice] : [bob])
                    }
                    table += new
                    for (subscriber, page) in feed.publish(new) { take(subscriber, page) }
                } else {
                    let subscriber = UInt64(random.next(6))
                    if let page = feed.leave(subscriber) { take(subscriber, page) }
                    let place = try #require(places[subscriber])
                    switch feed.ask(subscriber, after: place.place, place.selection, limit: 1 + random.next(4)) {
                    case .page(let page): take(subscriber, page)
                    case .wait: break
                    case .older(let through):
                        let rows = table.filter { $0.number > place.place && $0.number <= through }.prefix(3)
                        take(
                            subscriber,
                            EventPage(
                                events: rows.filter(place.selection.includes),
                                through: rows.count < 3 ? through : rows.last?.number ?? through))
                    }
                }
            }
            for (_, place) in places {
                let wanted = table.filter { $0.number <= place.place && place.selection.includes($0) }
                #expect(place.got == wanted.map(\.number), "seed \(seed)")
            }
        }
    }

    private struct Steps {
        var state: UInt64

        mutating func next(_ limit: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int((state >> 33) % UInt64(limit))
        }
    }
}

/// How events are written.
struct EventFormTests {
    @Test func `server-sent events have a name, a type and one line of JSON`() {
        let text = String(decoding: EventForm.serverSent.write(event(7, "call.ended"), in: "ab"), as: UTF8.self)
        #expect(text == "id: ab-7\nevent: call.ended\ndata: {\"id\":\"ab-7\",\"type\":\"call.ended\"}\n\n")
        let line = String(decoding: EventForm.lines.write(event(7, "call.ended"), in: "ab"), as: UTF8.self)
        #expect(line == "{\"id\":\"ab-7\",\"type\":\"call.ended\"}\n")
        let cursor = EventCursor(log: "ab", number: 9)
        #expect(String(decoding: EventForm.serverSent.pulse(at: cursor), as: UTF8.self) == ":\nid: ab-9\n\n")
        #expect(EventForm.lines.pulse(at: cursor) == Array("\n".utf8))
        let list = String(decoding: PublicEvent.list([event(1), event(2)], next: cursor), as: UTF8.self)
        #expect(
            list == #"{"events":[{"id":"ab-1","type":"leg.held"},{"id":"ab-2","type":"leg.held"}],"next":"ab-9"}"#)
        #expect(String(decoding: PublicEvent.list([], next: cursor), as: UTF8.self) == #"{"events":[],"next":"ab-9"}"#)
    }

    @Test func `a body is JSON whatever a user has written`() throws {
        let words = "a \"quote\", a \\, a\nline, \u{1}, \u{7F}, é, 🎉, \u{2028}"
        let body = try #require(
            EventBody(
                CallEvent(.callee, .released(.rejected(reasonText: words), by: .caller)), of: CallID(0xAB), sequence: 3,
                time: 1_700_000_000_123))
        let read = try #require(
            try JSONSerialization.jsonObject(with: Data(body.json)) as? [String: Any])
        #expect((read["data"] as? [String: Any])?["reason"] as? String == words)
        #expect(!body.json.contains(UInt8(ascii: "\n")), "one line")
        // The same as the encoder of the library writes it.
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let encoded = try JSONSerialization.jsonObject(with: encoder.encode(body)) as? [String: Any]
        #expect(NSDictionary(dictionary: read) == NSDictionary(dictionary: encoded ?? [:]))
    }
}
