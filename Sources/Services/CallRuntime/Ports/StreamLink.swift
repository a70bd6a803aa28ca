package import AudioStreams
import Sockets

/// A stream as the media plane gets it: the queues to its socket, and what is said on it first.
package struct MediaStream: Sendable {
    /// The queues to the socket.
    package let link: StreamLink
    /// What the program that opened the stream asked for.
    package let terms: StreamTerms
    /// The first event of the stream.
    package let start: StreamStart
    /// The order by which the gateway opened the stream: a later socket of the same one goes on with it. `nil`: its
    /// program has opened it.
    package let order: UInt64?

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(link: StreamLink, terms: StreamTerms, start: StreamStart, order: UInt64? = nil) {
        self.link = link
        self.terms = terms
        self.start = start
        self.order = order
    }
}

/// What a program asks for when it opens a stream.
package struct StreamTerms: Equatable, Sendable {
    /// What the other legs hear while a leg that has had a stream has none. The raw value is the word of the query.
    package enum Absence: String, Hashable, Sendable, CaseIterable {
        /// Nothing, or the source that the leg had before.
        case silence
        /// Music on hold.
        case music
    }

    /// Whom a listener hears: a stream besides that of the leg, which says nothing. The raw value is the word of the
    /// query.
    package enum Listening: String, Hashable, Sendable, CaseIterable {
        /// Those whom the leg hears.
        case caller
        /// Those, and what the leg says to them.
        case call
    }

    /// The words of the stream.
    package var dialect: StreamDialectName
    /// The form of the audio, in both directions.
    package var format: StreamFormat
    /// What the other legs hear once the socket is gone.
    package var absence: Absence
    /// How the stream treats what the program and the caller say.
    package var configuration: StreamSession.Configuration
    /// Whom a listener hears; `nil`: the stream is no listener, but speaks and hears.
    package var listens: Listening?
    /// How long a program that has opened the stream itself is waited for once it is gone. Where the gateway opens the
    /// stream, its ``StreamOrder`` says that, and what happens then.
    package var waiting: StreamDialing.Configuration
    /// What happens to the call when that program is given up.
    package var fallback: StreamOrder.Fallback

    /// Makes terms of their parts; each parameter is the property of that name.
    package init(
        dialect: StreamDialectName, format: StreamFormat, absence: Absence = .silence,
        configuration: StreamSession.Configuration = StreamSession.Configuration(), listens: Listening? = nil,
        waiting: StreamDialing.Configuration = StreamDialing.Configuration(), fallback: StreamOrder.Fallback = .none
    ) {
        self.dialect = dialect
        self.format = format
        self.absence = absence
        self.configuration = configuration
        self.listens = listens
        self.waiting = waiting
        self.fallback = fallback
    }
}

/// Two queues of messages: from the socket of a stream to the media plane, and back. Both are bounded in bytes.
///
/// The socket's event loop, a media worker, and the owner of the application share it. Its lock guards the queues and
/// nothing else: no side waits for another. The media plane looks every 20 ms, and needs no waking.
package final class StreamLink: Sendable {
    /// Once so many bytes of the program wait, its socket is not read until the media plane has taken them. One
    /// message, and what the socket has read already, may come on top. It is also the most that the media plane takes
    /// in 20 ms, on average: a larger message is made up for.
    package static let inwardLimit = 65_536
    /// Once so many bytes wait to be sent, the program counts as one that does not read.
    package static let outwardLimit = 1 << 20
    /// The most keys that wait to be told. No caller presses as many in 20 ms.
    package static let keyLimit = 1_000
    /// How long the end of a socket waits to be told until the media plane has judged what has come. It is many cycles:
    /// only a stream that never reaches the media plane waits so long, such as one that its call refuses.
    private static let patience = Duration.seconds(1)

    private struct State {
        var inward: [StreamFrame] = []
        var inwardBytes = 0
        /// What was taken beyond the limit, in bytes, and is not made up for yet.
        var debt = 0
        var isGone = false
        /// The media plane has not acted yet on all that has come.
        var isUnjudged = false
        /// Tells that the socket is gone, as soon as all that has come is judged.
        var reportLoss: (@Sendable () -> Void)?
        /// With which code the program has closed the socket; 1005: without one; `nil`: it has not.
        var closingCode: Int?
        var isStopped = false
        var keys: [(Character, Int?)] = []
        var outward: [StreamFrame] = []
        var outwardBytes = 0
        var isOverfull = false
        var end: StreamEnd?
        var wake: (@Sendable () -> Void)?

        mutating func takeLossReport() -> (@Sendable () -> Void)? {
            defer { reportLoss = nil }
            return reportLoss
        }
    }

    private let state = Lock(State())

    /// Makes empty queues.
    package init() {}

    // MARK: The socket's side

    /// The socket is open. `wake` is called, from the media plane's thread, when there is something to take.
    package func connect(waking wake: @escaping @Sendable () -> Void) {
        let hasMore = state.withLock { state in
            state.wake = wake
            return !state.outward.isEmpty || state.end != nil
        }
        if hasMore { wake() }
    }

    /// Takes a message of the program.
    ///
    /// - Returns: whether there is room for another one.
    package func receive(_ frame: StreamFrame) -> Bool {
        state.withLock { state in
            state.inward.append(frame)
            state.inwardBytes += frame.cost
            state.isUnjudged = true
            return state.inwardBytes < Self.inwardLimit
        }
    }

    /// What is to be sent, and whether more messages of the program are taken.
    ///
    /// - Returns: `end`: why the socket is closed behind these messages; `nil`: it stays open. `isOverfull`: messages
    ///   were lost, since the program does not read.
    package func takeOutward() -> (frames: [StreamFrame], end: StreamEnd?, isOverfull: Bool, mayRead: Bool) {
        state.withLock { state in
            defer { (state.outward, state.outwardBytes) = ([], 0) }
            return (state.outward, state.end, state.isOverfull, state.inwardBytes < Self.inwardLimit)
        }
    }

    /// Whether messages were lost, since the program does not read.
    package var isOverfull: Bool { state.withLock { $0.isOverfull } }

    /// Whether the socket is closed behind what waits to be sent.
    package var isEnding: Bool { state.withLock { $0.end != nil } }

    /// Whether more messages of the program are taken.
    package var mayRead: Bool { state.withLock { $0.inwardBytes < Self.inwardLimit } }

    /// The program closes the socket with this code; 1005: without one.
    package func close(with code: Int) { state.withLock { $0.closingCode = code } }

    /// What the end of the socket means for the stream, by the code with which the program has closed it.
    package var loss: StreamLoss {
        loss(unlessEnded: state.withLock { $0.closingCode }.map { StreamLoss(closedWith: $0) } ?? .transient)
    }

    /// What the end of the socket means for the stream. A stream that the gateway has ended is over, however its socket
    /// ends then, but for one whose program cannot be understood: that program is given up.
    ///
    /// - Parameter own: what the end of the socket means by itself.
    package func loss(unlessEnded own: StreamLoss) -> StreamLoss {
        state.withLock { state in
            if state.end == .faults, !state.isStopped { return .final }
            return state.end != nil || state.isStopped ? .ended : own
        }
    }

    /// The socket is gone.
    ///
    /// - Parameter tell: called once, from any thread, when `loss` says what that means for the stream: at once, or if
    ///   the media plane has not acted yet on all that has come, as soon as it has. It waits a second at most.
    package func disconnect(telling tell: @escaping @Sendable () -> Void = {}) {
        let isJudged = state.withLock { state -> Bool in
            state.isGone = true
            state.wake = nil
            (state.outward, state.outwardBytes) = ([], 0)
            guard state.isUnjudged, state.end == nil, !state.isStopped else { return true }
            state.reportLoss = tell
            return false
        }
        guard !isJudged else { return tell() }
        Task {
            try? await Task.sleep(for: Self.patience)
            let reportLoss = state.withLock { $0.takeLossReport() }
            reportLoss?()
        }
    }

    // MARK: The application's side

    /// The application was told of a key, of which the program hears as well.
    ///
    /// - Parameter milliseconds: how long it was pressed; `nil`: unknown.
    package func press(_ key: Character, milliseconds: Int?) {
        state.withLock { state in
            if state.keys.count < Self.keyLimit { state.keys.append((key, milliseconds)) }
        }
    }

    /// The application wants the stream no more: the media plane says so to the program, and closes the socket.
    package func stop() { state.withLock { $0.isStopped = true } }

    // MARK: The media plane's side

    /// Whether the application wants the stream no more.
    package var isStopped: Bool { state.withLock { $0.isStopped } }

    /// The keys since the last call, in their order.
    package func takeKeys() -> [(Character, Int?)] {
        state.withLock { state in
            guard !state.keys.isEmpty else { return [] }
            defer { state.keys = [] }
            return state.keys
        }
    }

    /// Whether the socket is gone. What came before may still wait to be taken.
    package var isGone: Bool { state.withLock { $0.isGone } }

    /// The messages of the program since the last call, in their order. It is called every 20 ms.
    package func takeInward() -> [StreamFrame] {
        let (frames, wake) = state.withLock { state -> ([StreamFrame], (@Sendable () -> Void)?) in
            state.debt = max(0, state.debt - Self.inwardLimit)
            guard !state.inward.isEmpty, state.debt == 0 else { return ([], nil) }
            defer {
                state.debt = max(0, state.inwardBytes - Self.inwardLimit)
                (state.inward, state.inwardBytes) = ([], 0)
            }
            return (state.inward, state.inwardBytes >= Self.inwardLimit ? state.wake : nil)
        }
        wake?()
        return frames
    }

    /// All messages of the program that were not taken yet, in their order, whatever is to be made up for: the media
    /// plane takes none of this socket any more.
    package func takeAllInward() -> [StreamFrame] {
        state.withLock { state in
            defer { (state.inward, state.inwardBytes) = ([], 0) }
            return state.inward
        }
    }

    /// The media plane has acted on all messages that it has taken.
    ///
    /// - Parameter waitsForRoom: those that it has not taken have no room yet, and are not waited for.
    package func judged(waitsForRoom: Bool) {
        let reportLoss = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.inward.isEmpty || waitsForRoom else { return nil }
            state.isUnjudged = false
            return state.takeLossReport()
        }
        reportLoss?()
    }

    /// Sends messages. They are dropped once the socket is gone, or the stream has ended.
    package func send(_ frames: [StreamFrame]) {
        guard !frames.isEmpty else { return }
        let wake = state.withLock { state -> (@Sendable () -> Void)? in
            guard !state.isGone, state.end == nil, !state.isOverfull else { return nil }
            let wasEmpty = state.outward.isEmpty
            state.outward += frames
            for frame in frames { state.outwardBytes += frame.cost }
            state.isOverfull = state.outwardBytes > Self.outwardLimit
            return wasEmpty || state.isOverfull ? state.wake : nil
        }
        wake?()
    }

    /// Closes the socket behind what was sent before. The first reason counts. If the socket is gone and that is not
    /// told yet, it is told now; of the reasons `faults` alone counts then.
    package func end(_ reason: StreamEnd) {
        let next = state.withLock { state -> (@Sendable () -> Void)? in
            guard state.end == nil else { return nil }
            guard state.isGone else {
                state.end = reason
                return state.wake
            }
            if state.reportLoss != nil, reason == .faults { state.end = reason }
            return state.takeLossReport()
        }
        next?()
    }
}
