internal import CCurl
internal import Primitives
internal import Sockets

/// A request on its way to the client's thread.
struct HTTPSubmission: Sendable {
    /// The number of its ticket.
    var number: UInt64
    var request: HTTPRequest
    /// When the whole response must be there.
    var deadline: MonotonicTime
    var completion: HTTPClient.Completion
}

/// What the client's thread is asked to do. Any thread puts in, and the client's thread takes out.
@safe
final class HTTPMailbox: @unchecked Sendable {  // curl_multi_wakeup may be called from any thread
    enum Message: Sendable {
        case submit(HTTPSubmission)
        case cancel(UInt64)
        case stop
    }

    private struct State {
        var messages: [Message] = []
        var isOpen = true
        /// The thread looks for messages by itself before long.
        var isBusy = false
    }

    /// libcurl's handle of all transfers. Only the client's thread uses it, except to be woken.
    let multi: UnsafeMutableRawPointer
    private let state = Lock(State())

    init() {
        _ = Self.isLibraryReady
        guard let multi = unsafe curl_multi_init() else { preconditionFailure("memory for transfers") }
        unsafe self.multi = multi
    }

    /// The thread holds the mailbox until it has ended, and nobody can wake it afterwards.
    deinit { unsafe curl_multi_cleanup(multi) }

    /// Puts a message in, and wakes the thread if it may be asleep. Returns whether there is anybody to read it.
    @discardableResult
    func send(_ message: Message) -> Bool { send(contentsOf: CollectionOfOne(message)) }

    /// The same for several messages.
    @discardableResult
    func send(contentsOf messages: some Collection<Message> & Sendable) -> Bool {
        let (isOpen, wakes) = state.withLock { state in
            guard state.isOpen else { return (false, false) }
            let wasEmpty = state.messages.isEmpty
            state.messages.append(contentsOf: messages)
            return (true, wasEmpty && !state.isBusy)
        }
        if wakes { unsafe curl_multi_wakeup(multi) }
        return isOpen
    }

    /// The thread is about to wait.
    ///
    /// - Parameter isBusy: it waits for a moment only, and need not be woken. Otherwise the next message wakes it.
    /// - Returns: whether messages have come, so that it need not wait.
    func waits(whileBusy isBusy: Bool) -> Bool {
        state.withLock { state in
            state.isBusy = isBusy
            return !state.messages.isEmpty
        }
    }

    /// Takes all messages out.
    func take() -> [Message] {
        state.withLock { state in
            guard !state.messages.isEmpty else { return [] }
            var taken: [Message] = []
            swap(&taken, &state.messages)
            state.messages.reserveCapacity(min(taken.count, 1_024))
            return taken
        }
    }

    /// Takes all messages out for the last time. Later ones are refused.
    func close() -> [Message] {
        state.withLock { state in
            state.isOpen = false
            let taken = state.messages
            state.messages = []
            return taken
        }
    }

    private static let isLibraryReady: Bool = {
        let result = curl_global_init(Int(CURL_GLOBAL_SSL))
        precondition(result == CURLE_OK, "libcurl can be initialised")
        return true
    }()
}
