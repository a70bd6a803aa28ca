import CallRuntime
import EventAPI
import NIOCore
import Primitives
import Sockets

/// Sends the events of the public log, as they come, to the WebSockets of one event loop that follow it. The loop is
/// woken once for all of them, and frames are written once for all that want the same. To be used on the event loop.
final class EventBroadcast {
    /// A socket that follows.
    private struct Follower {
        let handler: WebSocketHandler
        /// Gets the place of the socket when it does not follow any longer.
        let left: CheckedContinuation<Int64, Never>
    }

    /// What the log has told and the event loop has not taken.
    private struct News: Sendable {
        var events: [PublicEvent] = []
        var isOver = false

        var isEmpty: Bool { events.isEmpty && !isOver }
    }

    private let logName: String
    private let clock: any RuntimeClock
    private let loop: any EventLoop
    private let news = Lock(News())
    private var followers = EventFollowers(last: 0)
    private var sockets: [UInt64: Follower] = [:]
    private var lastName: UInt64 = 0
    private var timer: (time: MonotonicTime, scheduled: Scheduled<Void>)?

    /// Makes a broadcast that lives as long as the log; to be called on the event loop.
    init(_ log: any PublicEvents, clock: any RuntimeClock, on loop: any EventLoop) {
        logName = log.name
        self.clock = clock
        self.loop = loop
        let bound = NIOLoopBound(self, eventLoop: loop)
        let last = log.follow { [news] events in
            let wakes = news.withLock { news in
                let wakes = news.isEmpty
                if let events { news.events += events } else { news.isOver = true }
                return wakes
            }
            // Behind other news the loop is being woken already.
            if wakes { loop.execute { bound.value.takeNews() } }
        }
        followers = EventFollowers(last: last)
    }

    /// A name for a socket that no other one has.
    func makeName() -> UInt64 {
        lastName += 1
        return lastName
    }

    // MARK: From the sockets

    /// A socket follows from now on.
    ///
    /// - Parameter left: gets its place when it does not follow any longer, which may be at once.
    func join(
        _ name: UInt64, _ following: EventFollowing, _ handler: WebSocketHandler,
        _ left: CheckedContinuation<Int64, Never>
    ) {
        guard let admission = followers.join(name, following) else { return left.resume(returning: following.place) }
        sockets[name] = Follower(handler: handler, left: left)
        if timer.map({ admission.deadline < $0.time }) ?? true { setTimer(admission.deadline) }
        if !admission.missed.isEmpty { send(.init(events: admission.missed, names: [name])) }
    }

    /// A socket does not follow any longer.
    func leave(_ name: UInt64) {
        if let place = followers.leave(name) { release((name, place)) }
    }

    // MARK: From the log

    private func takeNews() {
        let told = news.withLock { news in
            defer { news = News() }
            return news
        }
        // Whose time is over gets nothing of it: the reader asks first whether the client may still read.
        followers.timeout(at: clock.now).forEach(release)
        var events = told.events[...]
        // No more than these wait for a slow reader.
        let limit = EventFollowers.limit
        while !events.isEmpty {
            for delivery in followers.publish(Array(events.prefix(limit))) { send(delivery) }
            events = events.dropFirst(limit)
        }
        if told.isOver {
            followers.finish().forEach(release)
            timer?.scheduled.cancel()
            timer = nil
        }
    }

    private func send(_ delivery: EventFollowers.Delivery) {
        var frames = ByteBuffer()
        for event in delivery.events { frames.writeTextFrame(event.object(in: logName)) }
        for name in delivery.names {
            guard let handler = sockets[name]?.handler else { continue }
            let promise = loop.makePromise(of: Void.self)
            handler.send(frames: frames, promise)
            followers.sending(name)
            // If the kernel has taken everything at once, this is known by now.
            promise.futureResult.assumeIsolated().whenComplete { result in
                switch result {
                case .success: if let place = self.followers.sent(name) { self.release((name, place)) }
                // The connection has ended.
                case .failure: self.leave(name)
                }
            }
        }
    }

    /// A socket has left: it goes on in the log.
    private func release(_ leaver: EventFollowers.Leaver) {
        sockets.removeValue(forKey: leaver.name)?.left.resume(returning: leaver.place)
    }

    // MARK: Time

    private func setTimer(_ time: MonotonicTime) {
        timer?.scheduled.cancel()
        let wait = TimeAmount.nanoseconds(max(time - clock.now, .zero).wholeNanoseconds)
        let scheduled = loop.assumeIsolated().scheduleTask(in: wait) { self.timeout(time) }
        timer = (time, scheduled)
    }

    private func timeout(_ time: MonotonicTime) {
        timer = nil
        // The timer may come a little early.
        followers.timeout(at: max(time, clock.now)).forEach(release)
        if let next = followers.nextDeadline { setTimer(next) }
    }
}

/// Finds the broadcast of an event loop.
final class EventBroadcasts: Sendable {
    private let log: any PublicEvents
    private let clock: any RuntimeClock
    private let made = Lock<[ObjectIdentifier: NIOLoopBound<EventBroadcast>]>([:])

    /// Makes what finds them; there are none yet.
    init(_ log: any PublicEvents, clock: any RuntimeClock) {
        self.log = log
        self.clock = clock
    }

    /// That of a loop; to be called on it.
    func broadcast(on loop: any EventLoop) -> EventBroadcast {
        let loopName = ObjectIdentifier(loop)
        if let bound = made.withLock({ $0[loopName] }) { return bound.value }
        // Nobody else makes one for this loop meanwhile.
        let bound = NIOLoopBound(EventBroadcast(log, clock: clock, on: loop), eventLoop: loop)
        made.withLock { $0[loopName] = bound }
        return bound.value
    }
}
