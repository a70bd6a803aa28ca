import NIOCore
import SignalingServer
import Testing

/// Which notification a long poll is answered with, and what the next poll confirms.
struct LongPollTests {
    private var poll = LongPoll()
    private let first = try? SocketAddress(ipAddress: "127.0.0.1", port: 1_001)
    private let second = try? SocketAddress(ipAddress: "127.0.0.1", port: 1_002)

    private func text(_ number: UInt64) -> ByteBuffer { ByteBuffer(string: "notification \(number)") }

    private func answer(_ request: UInt64, _ number: UInt64) -> LongPoll.Action {
        .answer(request: request, text(number))
    }

    @Test mutating func `a request waits for a notification, and gets one`() {
        #expect(poll.ask(1, on: first, since: nil) == [])
        #expect(poll.isHeld)
        #expect(poll.notify(text(7), numbered: 7) == [answer(1, 7)])
        #expect(!poll.isHeld)
        #expect(poll.notify(text(8), numbered: 8) == [])
        #expect(poll.ask(2, on: first, since: nil) == [.confirm(through: 7), answer(2, 8)])
        #expect(poll.ask(3, on: first, since: nil) == [.confirm(through: 8)])
    }

    @Test mutating func `a request that has waited for its time is answered with nothing`() {
        _ = poll.ask(1, on: first, since: nil)
        #expect(poll.timeOut(2) == [], "another request")
        #expect(poll.timeOut(1) == [.answer(request: 1, nil)])
        #expect(poll.timeOut(1) == [])
        #expect(poll.notify(text(7), numbered: 7) == [])
        #expect(poll.ask(2, on: second, since: nil) == [answer(2, 7)])
    }

    @Test mutating func `the last request that comes is the one that waits`() {
        _ = poll.ask(1, on: first, since: nil)
        #expect(poll.ask(2, on: second, since: nil) == [.answer(request: 1, nil)])
        #expect(poll.notify(text(7), numbered: 7) == [answer(2, 7)])
    }

    @Test mutating func `on another connection the notification before is given once more, and no more than once`() {
        _ = poll.notify(text(7), numbered: 7)
        _ = poll.notify(text(8), numbered: 8)
        #expect(poll.ask(1, on: first, since: nil) == [answer(1, 7)])
        #expect(poll.ask(2, on: second, since: nil) == [answer(2, 7)])
        #expect(poll.ask(3, on: first, since: nil) == [.confirm(through: 7), answer(3, 8)])
        #expect(poll.ask(4, on: nil, since: nil) == [answer(4, 8)], "nothing is known of the connection")
        #expect(poll.ask(5, on: nil, since: nil) == [.confirm(through: 8)])
    }

    @Test mutating func `a client that says what it has is believed, on any connection`() {
        for number in 7...9 as ClosedRange<UInt64> { _ = poll.notify(text(number), numbered: number) }
        #expect(poll.ask(1, on: first, since: nil) == [answer(1, 7)])
        #expect(poll.ask(2, on: second, since: 7) == [.confirm(through: 7), answer(2, 8)])
        #expect(poll.ask(3, on: second, since: 7) == [answer(3, 8)], "it has not got the answer")
        #expect(poll.ask(4, on: second, since: 1) == [answer(4, 8)], "it was given no such notification")
        #expect(poll.ask(5, on: second, since: 9) == [.confirm(through: 9)])
    }

    @Test mutating func `what was notified before the end is fetched, and then the channel is gone`() {
        _ = poll.notify(text(7), numbered: 7)
        #expect(poll.finish() == [])
        #expect(poll.ask(1, on: first, since: nil) == [answer(1, 7)])
        #expect(poll.ask(2, on: first, since: nil) == [.confirm(through: 7), .refuse(request: 2)])
    }

    @Test mutating func `a request that waits when the channel ends is told so`() {
        _ = poll.ask(1, on: first, since: nil)
        #expect(poll.finish() == [.refuse(request: 1)])
        #expect(poll.ask(2, on: first, since: nil) == [.refuse(request: 2)])
    }
}
