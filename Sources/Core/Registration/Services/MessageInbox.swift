import CallControl
package import Primitives

/// The messages that are kept for a user, because no device for messages listens.
///
///     keep ──▶ kept ── a device listens: takeFirst ──▶ delivered
///                └──── age: takeExpired ──▶ expired
package struct MessageInbox: Equatable, Sendable {
    /// The limits of messages.
    package struct Configuration: Equatable, Sendable {
        /// The most messages that are kept for one user, 0 or more. One sender may have half of them at most, so that
        /// no sender shuts out all others.
        package var capacity: Int
        /// How long a message is kept.
        package var maximumAge: Duration
        /// How often a user may send a message.
        package var rate: RateAllowance.Rate
        /// The longest text, in bytes of UTF-8.
        package var maximumLength: Int

        /// Makes limits of their parts; each parameter is the property of that name.
        package init(
            capacity: Int = 100, maximumAge: Duration = .seconds(14 * 86_400),
            rate: RateAllowance.Rate = .init(burst: 20, interval: .seconds(1)), maximumLength: Int = 4_096
        ) {
            self.capacity = capacity
            self.maximumAge = maximumAge
            self.rate = rate
            self.maximumLength = maximumLength
        }
    }

    private let configuration: Configuration
    /// The messages that are kept, in the order in which they came.
    package private(set) var messages: [InstantMessage] = []

    /// Makes an empty inbox.
    package init(_ configuration: Configuration) { self.configuration = configuration }

    /// Whether no message is kept.
    package var isEmpty: Bool { messages.isEmpty }

    /// Keeps a message.
    ///
    /// - Throws: `inboxFull` if as many are kept as may be, of all senders or of this one.
    package mutating func keep(_ message: InstantMessage) throws(ServiceRefusal) {
        let share = (configuration.capacity + 1) / 2
        guard messages.count < configuration.capacity, messages.count(where: { $0.sender == message.sender }) < share
        else { throw .inboxFull }
        messages.append(message)
    }

    /// Takes over what was kept by a process that has ended.
    package mutating func restore(_ kept: [InstantMessage]) { messages = kept + messages }

    /// Takes out the message that came first; `nil`: none is kept.
    package mutating func takeFirst() -> InstantMessage? { messages.isEmpty ? nil : messages.removeFirst() }

    /// Takes out all messages, in order.
    package mutating func takeAll() -> [InstantMessage] {
        defer { messages = [] }
        return messages
    }

    /// Takes out the messages that were kept for long enough.
    ///
    /// - Parameter now: milliseconds since 1970.
    package mutating func takeExpired(at now: Int64) -> [InstantMessage] {
        let isOld = { [configuration] (message: InstantMessage) in
            message.time <= now - configuration.maximumAge.wholeNanoseconds / 1_000_000
        }
        defer { messages.removeAll(where: isOld) }
        return messages.filter(isOld)
    }

    /// How long it takes until the oldest message has been kept for long enough; `nil`: none is kept.
    ///
    /// - Parameter now: milliseconds since 1970.
    package func timeToExpiry(at now: Int64) -> Duration? {
        messages.lazy.map(\.time).min().map {
            max(.zero, configuration.maximumAge - .milliseconds(max(0, now - $0)))
        }
    }
}
