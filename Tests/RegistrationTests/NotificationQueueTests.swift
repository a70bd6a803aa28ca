import CallControl
import CallSupport
import Primitives
import Registration
import SPiDR
import TestSupport
import Testing

struct NotificationQueueTests {
    private var clock = VirtualClock()
    private var queue = NotificationQueue(
        user: UserAddress(parsing: "ann@example.com")!, channel: ChannelID("c"), firstEventID: 100,
        configuration: .init(capacity: 5, maximumAge: .seconds(60), replayLimit: 3))

    private mutating func append(_ count: Int = 1, behind request: UInt64? = nil) -> Int {
        let now = Moment(clock.now, epochMilliseconds: 7)
        return (0..<count).reduce(0) { lost, _ in lost + queue.append(.test(.ringing), behind: request, at: now).lost
        }
    }

    private mutating func release(_ oldestOpenRequest: UInt64? = nil, listening: Bool = true) -> [UInt64] {
        let outgoing = queue.release(isListening: listening, at: clock.now) { request, _ in
            request.map { request in oldestOpenRequest.map { $0 <= request } ?? false } ?? false
        }
        #expect(outgoing.allSatisfy { !$0.isReplay })
        return outgoing.map(\.frame.eventID)
    }

    /// The numbers of what goes to a socket that opens: the repeated ones, then the new ones.
    private mutating func replay() -> [UInt64] {
        queue.replay(at: clock.now).map(\.frame.eventID) + release()
    }

    @Test mutating func `numbers go up by one, and the stamp is that of the notification`() {
        _ = append(3)
        let frames = queue.release(isListening: true, at: clock.now) { _, _ in false }.map(\.frame)
        #expect(frames.map(\.eventID) == [100, 101, 102])
        #expect(frames.allSatisfy { $0.time == 7 && $0.channel == ChannelID("c") && $0.user.text == "ann@example.com" })
    }

    @Test mutating func `a notification waits for the requests that had begun before it, and for no other`() {
        _ = append(behind: 2)
        #expect(release(1).isEmpty)
        #expect(release(2).isEmpty)
        #expect(!queue.isReleased)
        #expect(release(3) == [100])
        #expect(queue.isReleased)
    }

    @Test mutating func `what waits holds back what comes after it`() {
        _ = append(behind: 1)
        _ = append(behind: nil)
        #expect(release(1).isEmpty)
        #expect(release() == [100, 101])
    }

    @Test mutating func `what was released to nobody is sent on the next socket`() {
        _ = append(2)
        #expect(release(listening: false).isEmpty)
        #expect(queue.replay(at: clock.now).isEmpty)
        #expect(release() == [100, 101])
    }

    @Test mutating func `what was transmitted is sent again under the same number`() {
        _ = append(2)
        let first = queue.release(isListening: true, at: clock.now) { _, _ in false }.map(\.frame)
        let again = queue.replay(at: clock.now)
        #expect(again.map(\.frame) == first)
        #expect(again.allSatisfy { $0.isReplay })
        #expect(release().isEmpty)
    }

    @Test mutating func `no more is on its way than clients recognise when it comes again, and nothing is left out`() {
        _ = append(5)
        #expect(release() == [100, 101, 102])
        #expect(!queue.isReleased)
        #expect(replay() == [100, 101, 102])
        queue.confirm(through: 101)
        #expect(release() == [103, 104])
        #expect(queue.isReleased)
        #expect(replay() == [102, 103, 104])
    }

    @Test mutating func `what was confirmed is not sent again`() {
        _ = append(2)
        #expect(release() == [100, 101])
        queue.confirm(through: 100)
        #expect(replay() == [101])
        queue.confirm(through: 999)
        #expect(replay().isEmpty)
    }

    @Test mutating func `a confirmation does not reach what was never sent`() {
        _ = append()
        #expect(release(listening: false).isEmpty)
        queue.confirm(through: 100)
        #expect(replay() == [100])
    }

    @Test mutating func `a client that says what it has is sent everything behind that, and told what is gone`() {
        _ = append(5)
        #expect(release() == [100, 101, 102])
        queue.confirm(through: 102)
        #expect(release() == [103, 104])
        // It has lost what it had confirmed.
        #expect(queue.resume(after: 100, at: clock.now) == 0)
        #expect(replay() == [101, 102, 103, 104])
        #expect(queue.resume(after: 103, at: clock.now) == 0)
        #expect(replay() == [104])
        // 105 goes to one socket, 106 displaces 100, which was confirmed, and 107 displaces 101.
        _ = queue.frame(.overridden, at: Moment(clock.now, epochMilliseconds: 0))
        #expect(append(2) == 0)
        #expect(queue.resume(after: 100, at: clock.now) == 1)
        #expect(replay() == [102, 103, 104])
        queue.confirm(through: 102)
        #expect(release() == [106])
        clock.advance(by: .seconds(60))
        #expect(queue.forgetOld(at: clock.now) == 3, "107 waits")
        #expect(queue.resume(after: 101, at: clock.now) == 4, "105 is nothing that could be missed")
    }

    @Test mutating func `a number of another subscription means nothing`() {
        _ = append(2)
        #expect(release() == [100, 101])
        #expect(queue.resume(after: 98, at: clock.now) == nil)
        #expect(queue.resume(after: 102, at: clock.now) == nil)
        #expect(replay() == [100, 101])
        #expect(queue.resume(after: 99, at: clock.now) == 0)
        #expect(replay() == [100, 101])
    }

    @Test mutating func `what waits for a request is not replayed`() {
        _ = append(behind: 1)
        #expect(queue.replay(at: clock.now).isEmpty)
        #expect(release(1).isEmpty)
        #expect(release() == [100])
    }

    @Test mutating func `the oldest makes room, and is lost if nobody has had it`() {
        #expect(append(5) == 0)
        #expect(release(listening: false).isEmpty)
        #expect(append(2) == 2)
        #expect(replay() == [102, 103, 104])
        queue.confirm(through: 104)
        #expect(release() == [105, 106])
        #expect(append(3) == 0)
        #expect(append() == 1, "105 is not confirmed")
    }

    @Test mutating func `too old a notification is forgotten`() {
        _ = append()
        #expect(release(listening: false).isEmpty)
        clock.advance(by: .seconds(59))
        _ = append()
        #expect(release() == [101])
        #expect(queue.nextDeadline == clock.now + .seconds(60))
        clock.advance(by: .seconds(1))
        #expect(queue.forgetOld(at: clock.now) == 1)
        #expect(replay() == [101])
        queue.confirm(through: 101)
        clock.advance(by: .seconds(59))
        #expect(queue.forgetOld(at: clock.now) == 0)
        #expect(queue.nextDeadline == nil)
        #expect(replay().isEmpty)
    }

    @Test mutating func `age does not touch what waits`() {
        _ = append(behind: 1)
        clock.advance(by: .seconds(100))
        #expect(queue.forgetOld(at: clock.now) == 0)
        #expect(queue.nextDeadline == nil)
        #expect(release() == [100])
    }

    @Test mutating func `a frame for one socket takes a number and is not kept`() {
        #expect(
            queue.frame(.overridden, at: Moment(clock.now, epochMilliseconds: 0)).eventID == 100)
        _ = append()
        #expect(release() == [101])
        #expect(replay() == [101])
    }
}

struct RequestGateTests {
    private let start = VirtualClock().now

    private func gate(firstNumber: UInt64) -> RequestGate {
        RequestGate(firstNumber: firstNumber, patience: .seconds(10), answerTime: .zero, sessionTime: .zero)
    }

    private func holds(_ gate: RequestGate, _ request: UInt64) -> Bool { gate.holds(request, about: nil, for: "s1") }

    @Test func `requests are answered in any order`() {
        var gate = gate(firstNumber: 7)
        #expect([gate.start(at: start), gate.start(at: start), gate.start(at: start)] == [7, 8, 9])
        gate.answer(8, nil, at: start)
        #expect(holds(gate, 7))
        #expect(gate.newest == 9)
        gate.answer(7, nil, at: start)
        gate.answer(7, nil, at: start)
        #expect(!holds(gate, 8) && holds(gate, 9))
        gate.answer(9, nil, at: start)
        #expect(!gate.hasRequests)
        #expect(gate.patienceEnd == nil)
    }

    @Test func `a request that is never answered holds nothing back for ever`() {
        var gate = gate(firstNumber: 0)
        _ = gate.start(at: start)
        _ = gate.start(at: start + .seconds(5))
        #expect(gate.patienceEnd == start + .seconds(10))
        gate.timeout(at: start + .seconds(10))
        #expect(!holds(gate, 0) && holds(gate, 1))
        gate.timeout(at: start + .seconds(15))
        #expect(!gate.hasRequests)
    }
}
