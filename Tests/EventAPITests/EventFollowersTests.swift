import CallControl
import EventAPI
import Primitives
import Testing

private let alice = UserAddress(parsing: "alice@example.com")!
private let bob = UserAddress(parsing: "bob@example.com")!
private let everything = EventSelection(reader: .everything)
private let ofBob = EventSelection(reader: .user(bob))
private let late = MonotonicTime.zero + .seconds(3_600)

private func event(_ number: Int64, of user: UserAddress = alice) -> PublicEvent {
    PublicEvent(
        number: number, call: "1", type: "leg.held", time: number, scope: EventScope([.user(user)]),
        json: Array("{}".utf8))
}

extension EventFollowers {
    /// Publishes events, and returns the deliveries with their names in order.
    fileprivate mutating func told(_ events: PublicEvent...) -> [Delivery] {
        publish(events).map { Delivery(events: $0.events, names: $0.names.sorted()) }
    }
}

/// The programs of one event loop that are sent events as they come.
struct EventFollowersTests {
    private typealias Delivery = EventFollowers.Delivery

    private func following(
        _ place: Int64, _ selection: EventSelection = everything, until deadline: MonotonicTime = late
    ) -> EventFollowing {
        EventFollowing(place: place, selection: selection, deadline: deadline)
    }

    private func texts(_ leavers: [EventFollowers.Leaver]) -> [String] {
        leavers.map { "\($0.name) at \($0.place)" }.sorted()
    }

    @Test func `who wants the same is sent the same, and nobody else`() {
        var followers = EventFollowers(last: 10)
        #expect(followers.join(1, following(10))?.deadline == late)
        #expect(followers.join(2, following(10))?.deadline == late)
        #expect(followers.join(3, following(10, ofBob))?.deadline == late)
        #expect(followers.told(event(11)) == [Delivery(events: [event(11)], names: [1, 2])])
        let both = followers.told(event(12, of: bob), event(13))
        #expect(both.count == 2)
        #expect(both.contains(Delivery(events: [event(12, of: bob), event(13)], names: [1, 2])))
        #expect(both.contains(Delivery(events: [event(12, of: bob)], names: [3])))
        // What it does not want moves its place on as well.
        #expect(followers.leave(3) == 13)
        #expect(followers.leave(3) == nil)
        #expect(followers.told(event(14, of: bob)).map(\.names) == [[1, 2]])
    }

    @Test func `who has missed a little when it joins gets that first, and who has missed much does not follow`() {
        var followers = EventFollowers(last: 10)
        #expect(followers.join(1, following(9)) == nil)
        #expect(followers.leave(1) == nil)
        let limit = Int64(EventFollowers.limit)
        for number in 11...(limit + 10) {
            #expect(followers.told(event(number, of: number == 12 ? bob : alice)).isEmpty)
        }
        #expect(followers.join(1, following(10))?.missed.map(\.number) == Array(11...(limit + 10)))
        #expect(followers.join(2, following(10, ofBob))?.missed == [event(12, of: bob)])
        #expect(followers.join(3, following(limit + 10))?.missed == [])
        #expect(followers.told(event(limit + 11)) == [Delivery(events: [event(limit + 11)], names: [1, 3])])
        #expect(followers.join(4, following(10)) == nil)
        #expect(followers.join(4, following(11))?.missed.count == Int(limit))
    }

    @Test func `who has read more in the log is sent nothing twice`() {
        var followers = EventFollowers(last: 10)
        #expect(followers.join(1, following(12)) != nil)
        #expect(followers.join(2, following(10)) != nil)
        #expect(followers.told(event(11)) == [Delivery(events: [event(11)], names: [2])])
        let next = followers.told(event(12), event(13))
        #expect(next.count == 2)
        #expect(next.contains(Delivery(events: [event(13)], names: [1])))
        #expect(next.contains(Delivery(events: [event(12), event(13)], names: [2])))
        #expect(followers.told(event(14)) == [Delivery(events: [event(14)], names: [1, 2])])
        // One that is told of nothing leaves with what it had.
        #expect(followers.join(3, following(20)) != nil)
        #expect(followers.leave(3) == 20)
    }

    @Test func `who takes its events slowly goes on in the log behind what it was sent`() {
        var followers = EventFollowers(last: 0)
        for name in 1...3 as ClosedRange<UInt64> { #expect(followers.join(name, following(0)) != nil) }
        #expect(followers.told(event(1)).map(\.names) == [[1, 2, 3]])
        followers.sending(1)
        followers.sending(2)
        #expect(followers.sent(2) == nil, "it has missed nothing, and goes on")
        #expect(followers.told(event(2)).map(\.names) == [[2, 3]])
        #expect(followers.told(event(3)).map(\.names) == [[2, 3]])
        #expect(followers.sent(1) == 1, "it has missed two events, and leaves")
        #expect(followers.sent(1) == nil)
        #expect(followers.leave(1) == nil)
        // It may leave while something is on its way, since the connection ends.
        followers.sending(2)
        #expect(followers.told(event(4)).map(\.names) == [[3]])
        #expect(followers.leave(2) == 3)
        followers.sending(2)
        #expect(followers.join(2, following(4)) != nil)
        #expect(followers.told(event(5)).map(\.names) == [[2, 3]])
    }

    @Test func `who has missed only what it does not want goes on`() {
        var followers = EventFollowers(last: 0)
        #expect(followers.join(1, following(0, ofBob)) != nil)
        #expect(followers.told(event(1, of: bob)).count == 1)
        followers.sending(1)
        #expect(followers.told(event(2)).isEmpty)
        #expect(followers.sent(1) == nil)
        #expect(followers.told(event(3, of: bob)).count == 1)
    }

    @Test func `whose time is over leaves, but not before what is on its way was sent`() {
        var followers = EventFollowers(last: 0)
        let (soon, later) = (MonotonicTime.zero + .seconds(1), MonotonicTime.zero + .seconds(2))
        #expect(followers.nextDeadline == nil)
        #expect(followers.join(1, following(0, until: later))?.deadline == later)
        #expect(followers.join(2, following(0, until: soon))?.deadline == soon)
        #expect(followers.join(3, following(0, until: soon))?.deadline == soon)
        #expect(followers.nextDeadline == soon)
        #expect(followers.told(event(1)).count == 1)
        followers.sending(3)
        #expect(followers.timeout(at: .zero).isEmpty)
        #expect(texts(followers.timeout(at: soon)) == ["2 at 1"])
        #expect(followers.nextDeadline == later)
        #expect(followers.told(event(2)).map(\.names) == [[1]])
        #expect(followers.sent(3) == 1)
        #expect(texts(followers.timeout(at: later)) == ["1 at 2"])
        #expect(followers.nextDeadline == nil)
        #expect(followers.told(event(3)).isEmpty)
    }

    @Test func `at the end all leave, and nobody follows any more`() {
        var followers = EventFollowers(last: 7)
        #expect(followers.join(1, following(7)) != nil)
        #expect(followers.join(2, following(9)) != nil)
        #expect(texts(followers.finish()) == ["1 at 7", "2 at 9"])
        #expect(followers.join(3, following(9)) == nil)
        #expect(followers.nextDeadline == nil)
    }

    @Test func `random followers get each event that they want once and in order`() throws {
        for seed in 1...50 as ClosedRange<UInt64> {
            var random = Steps(state: seed)
            var followers = EventFollowers(last: 0)
            var log: [PublicEvent] = []
            // Events that are in the log, and that the followers are not told of yet.
            var untold: [PublicEvent] = []
            var programs: [UInt64: (place: Int64, got: [Int64], follows: Bool)] = [:]
            for name in 0..<6 as Range<UInt64> { programs[name] = (0, [], false) }
            func selection(_ name: UInt64) -> EventSelection { name < 3 ? ofBob : everything }
            func leave(_ name: UInt64, at place: Int64) {
                programs[name]?.place = place
                programs[name]?.follows = false
            }
            for _ in 0..<300 {
                let name = UInt64(random.next(6))
                switch random.next(5) {
                case 0:
                    let new = event(Int64(log.count + 1) * 3, of: random.next(2) == 0 ? alice : bob)
                    log.append(new)
                    untold.append(new)
                case 1:
                    for delivery in followers.publish(untold) {
                        for name in delivery.names {
                            programs[name]?.got += delivery.events.map(\.number)
                            if random.next(3) == 0 { followers.sending(name) }
                        }
                    }
                    untold = []
                case 2: if let place = followers.sent(name) { leave(name, at: place) }
                case 3: if let place = followers.leave(name) { leave(name, at: place) }
                default:
                    let program = try #require(programs[name])
                    guard !program.follows else { continue }
                    // It reads on in the log before it follows, but not always to the end.
                    let rest = log.filter { $0.number > program.place }.dropLast(random.next(3))
                    programs[name]?.got += rest.filter(selection(name).includes).map(\.number)
                    programs[name]?.place = rest.last?.number ?? program.place
                    let place = try #require(programs[name]?.place)
                    let admission = followers.join(name, following(place, selection(name)))
                    programs[name]?.follows = admission != nil
                    programs[name]?.got += admission?.missed.map(\.number) ?? []
                }
            }
            for (name, program) in programs {
                let wanted = log.filter(selection(name).includes).map(\.number)
                #expect(program.got == Array(wanted.prefix(program.got.count)), "seed \(seed), program \(name)")
                if let place = followers.leave(name) {
                    let known = log.filter { $0.number <= place && selection(name).includes($0) }.map(\.number)
                    #expect(program.got == known, "seed \(seed), program \(name)")
                }
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
