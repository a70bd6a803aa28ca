package import Primitives

/// The requests of one user that are in flight: a request is answered before anything it causes is notified (spidr-wire §4.3).
package struct RequestGate: Equatable, Sendable {
    private struct Request: Equatable, Sendable {
        var number: UInt64
        var began: MonotonicTime
    }

    /// In the order they began; numbers go up.
    private var open: [Request] = []
    private var lastNumber: UInt64
    private let patience: Duration

    /// - Parameters:
    ///   - firstNumber: of the first request; random, so that the tickets of two gates of one user do not meet.
    ///   - patience: a request that is not answered within this time holds nothing back any more.
    package init(firstNumber: UInt64, patience: Duration) {
        lastNumber = firstNumber &- 1
        self.patience = patience
    }

    package var isEmpty: Bool { open.isEmpty }
    package var oldest: UInt64? { open.first?.number }
    package var newest: UInt64? { open.last?.number }

    /// When the oldest request has had its time.
    package var nextDeadline: MonotonicTime? { open.first.map { $0.began + patience } }

    package mutating func begin(at now: MonotonicTime) -> UInt64 {
        lastNumber &+= 1
        open.append(Request(number: lastNumber, began: now))
        return lastNumber
    }

    /// An unknown number is ignored: its request has run out of patience.
    package mutating func answer(_ number: UInt64) {
        open.removeAll { $0.number == number }
    }

    package mutating func timeout(at now: MonotonicTime) {
        open.removeAll { $0.began + patience <= now }
    }
}
