import Primitives

/// How many keys wait to be pressed for one end of a call, as far as call handling can tell: from what was asked for, and how long it takes.
///
/// The media plane presses them one after the other and answers nothing. What it would have no room for is refused here, where
/// whoever asks can be told.
struct PressedKeys: Equatable, Sendable {
    private struct Request: Equatable, Sendable {
        var count: Int
        /// When its last key has been pressed.
        var end: MonotonicTime
    }

    /// Keys and pauses that may wait.
    static let capacity = DigitSequence.maximumCount

    private var requests: [Request] = []

    /// How long it takes until there is room for so many keys more; `nil` if there is now.
    func wait(for count: Int, at now: MonotonicTime) -> Duration? {
        let waiting = requests.filter { $0.end > now }
        var excess = waiting.reduce(count) { $0 + $1.count } - Self.capacity
        var wait: Duration?
        for request in waiting where excess > 0 {
            excess -= request.count
            wait = request.end - now
        }
        return wait
    }

    /// Keys that there is room for have been asked for.
    mutating func press(_ digits: DigitSequence, at now: MonotonicTime) {
        requests.removeAll { $0.end <= now }
        let start = requests.last?.end ?? now
        requests.append(Request(count: digits.count, end: start + digits.length))
    }
}

extension DigitSequence {
    /// Keys and pauses.
    var count: Int { digits.utf8.count }

    /// How long pressing them takes at most: steps of 20 ms are rounded up, and the end of a key is said three times (RFC 4733 §2.5.1.4).
    fileprivate var length: Duration {
        let pauses = digits.utf8.count { $0 == UInt8(ascii: ",") }
        let key = duration + max(gap, .milliseconds(60)) + .milliseconds(40)
        return .seconds(2) * pauses + key * (count - pauses)
    }
}
