package import CallControl

extension CallRequest {
    /// Whether a client changes the state of its call when it reads the answer, and misreads notifications that come
    /// before that (spidr-wire §12.1).
    package var isDigested: Bool {
        switch self {
        case .start, .join, .forward, .transfer: true
        case .connect: false
        case .command(_, let command): command.isDigested
        }
    }
}

extension CallRequest {
    /// Whether a client makes this request in good faith until it has been told that its call is over. It succeeds
    /// until then: a client that is refused reports a failure of its own, and not how the call ended (spidr-wire
    /// §12.1).
    package var outlivesCall: Bool {
        switch self {
        case .start, .connect, .join, .forward, .transfer: false
        case .command(_, let command): command.outlivesCall
        }
    }
}

extension CallCommand {
    fileprivate var outlivesCall: Bool {
        switch self {
        case .audit, .respond: true  // both follow from what the gateway said before
        case .ring, .answer, .reject, .end, .offer, .candidates, .send, .play, .stopPlaying, .sendDigits, .headless:
            false
        }
    }

    fileprivate var isDigested: Bool {
        switch self {
        case .answer, .reject, .end, .offer, .respond: true
        case .ring, .audit, .candidates, .send, .play, .stopPlaying, .sendDigits, .headless: false
        }
    }
}
