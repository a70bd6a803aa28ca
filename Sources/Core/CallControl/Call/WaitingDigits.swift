import Primitives

/// The DTMF digits that wait to be sent for one leg, estimated from the requests and the time that each takes.
///
/// The media plane sends them one after the other, and reports nothing. Digits that it would have no room for are
/// refused here, where the client that asks can be told. An application is told of digits at once; they count as long
/// as if they were sent, so that a client cannot flood it.
struct WaitingDigits: Equatable, Sendable {
    /// A request whose digits may still wait.
    private struct Request: Equatable, Sendable {
        var count: Int
        /// When its last digit has been sent.
        var end: MonotonicTime
    }

    /// The most digits and pauses that may wait.
    static let capacity = DigitSequence.maximumCount

    /// The requests, in the order in which they are carried out.
    private var requests: [Request] = []

    /// The time until there is room for `count` more digits; `nil` if there is room now.
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

    /// Adds digits that there is room for.
    mutating func press(_ digits: DigitSequence, at now: MonotonicTime) {
        requests.removeAll { $0.end <= now }
        let start = requests.last?.end ?? now
        requests.append(Request(count: digits.count, end: start + digits.length))
    }
}

extension DigitSequence {
    /// The number of digits and pauses.
    var count: Int { digits.utf8.count }

    /// The longest time that sending the digits takes: steps of 20 ms are rounded up, and the end of a digit is sent
    /// three times (RFC 4733 §2.5.1.4).
    fileprivate var length: Duration {
        let pauses = digits.utf8.count { $0 == UInt8(ascii: ",") }
        let digit = duration + max(gap, .milliseconds(60)) + .milliseconds(40)
        return .seconds(2) * pauses + digit * (count - pauses)
    }
}
