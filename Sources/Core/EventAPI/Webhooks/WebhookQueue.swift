package import Primitives

/// What one webhook is owed: which delivery leaves next, when a failed one is tried again, and which are given up.
///
/// The deliveries of a call leave one after the other, in order; a further one waits until the one before is delivered
/// or parked. Those of different calls do not wait for each other, up to a number that are on their way at a time: one
/// after an attempt without an answer, and twice as many after each answer, up to `Configuration.inFlight`.
///
/// What a delivery costs does not depend on how many others wait.
package struct WebhookQueue: Sendable {
    /// The limits of a queue.
    package struct Configuration: Equatable, Sendable {
        /// The most requests that have no answer yet, 1 or more.
        package var inFlight = 8
        /// How long a delivery is tried, from its first attempt.
        package var retryTime = Duration.seconds(86_400)
        /// About how long the second attempt waits for; each further one waits about twice as long as the one before.
        package var firstDelay = Duration.seconds(2)
        /// The longest wait between two attempts.
        package var longestDelay = Duration.seconds(600)

        /// Makes a configuration with the default of each property.
        package init() {}
    }

    /// An event that is owed.
    package struct Delivery: Equatable, Sendable {
        /// The place of the event in the log; also the name of the delivery.
        package var number: Int64
        /// The call of the event. Deliveries of the same call keep their order.
        package var call: String
        /// The body of the request.
        package var content: [UInt8]
        /// How many attempts have failed.
        package var attempts: Int
        /// When the first attempt failed, milliseconds since 1970; `nil`: none has.
        package var failingSince: Int64?
        /// Why the last attempt failed, in words; `nil`: none has.
        package var reason: String?

        /// Makes a delivery of its parts; each parameter is the property of that name.
        package init(
            number: Int64, call: String, content: [UInt8], attempts: Int = 0, failingSince: Int64? = nil,
            reason: String? = nil
        ) {
            self.number = number
            self.call = call
            self.content = content
            self.attempts = attempts
            self.failingSince = failingSince
            self.reason = reason
        }
    }

    /// What an attempt has led to.
    package enum Outcome: Equatable, Sendable {
        /// The receiver has taken it.
        case delivered
        /// It was not taken. `after`: the receiver asks to wait for so long; `nil`: it does not say.
        case failed(reason: String, after: Duration? = nil)
        /// No answer has come. A receiver that does not answer holds a connection until the attempt is given up, and is
        /// not to take those that other receivers of its host need.
        case unanswered(reason: String)
    }

    /// What becomes of a delivery after an attempt.
    package enum Verdict: Equatable, Sendable {
        /// It is over.
        case delivered
        /// It is tried again.
        case retried(Delivery)
        /// It is given up, until an operator asks for it.
        case parked(Delivery)
    }

    private let configuration: Configuration
    /// The deliveries of each call, the first of which is next, by the number of their line. None is empty.
    private var lines: [UInt64: WaitingLine<Delivery>] = [:]
    /// The numbers of the lines, by call.
    private var numbers: [String: UInt64] = [:]
    /// The greatest number that was given to a line.
    private var lastLine: UInt64 = 0
    /// The lines whose next delivery may leave, in the order in which it could.
    private var ready = WaitingLine<UInt64>()
    /// When lines whose next delivery has failed are ready again.
    private var deadlines = DeadlineQueue()
    /// The lines of deliveries that have left.
    private var inFlight: [Int64: UInt64] = [:]
    /// How many may be on their way, 1 to `Configuration.inFlight`.
    private var room: Int

    /// When a failed delivery may be tried again; `nil`: none has failed.
    package private(set) var nextDeadline: MonotonicTime?
    /// How many deliveries are owed.
    package private(set) var count = 0

    /// Makes an empty queue.
    package init(_ configuration: Configuration = Configuration()) {
        self.configuration = configuration
        room = configuration.inFlight
    }

    /// A delivery is owed. Those of a call are added in their order.
    package mutating func add(_ delivery: Delivery) {
        count += 1
        if let line = numbers[delivery.call] {
            lines[line]?.append(delivery)
            return
        }
        lastLine += 1
        numbers[delivery.call] = lastLine
        lines[lastLine] = WaitingLine(delivery)
        ready.append(lastLine)
    }

    /// The deliveries that leave now.
    package mutating func takeDue(at now: MonotonicTime) -> [Delivery] {
        while let line = deadlines.popDue(at: now) { ready.append(line) }
        nextDeadline = deadlines.earliest
        var taken: [Delivery] = []
        while inFlight.count < room, let line = ready.popFirst() {
            guard let delivery = lines[line]?.first else { continue }
            inFlight[delivery.number] = line
            taken.append(delivery)
        }
        return taken
    }

    /// An attempt has ended.
    ///
    /// - Parameters:
    ///   - now: the time on the monotonic clock.
    ///   - time: the same on the wall clock, milliseconds since 1970.
    /// - Returns: what becomes of the delivery; `nil`: it was not on its way.
    package mutating func ended(
        _ number: Int64, _ outcome: Outcome, at now: MonotonicTime, time: Int64, random: inout some RandomSource
    ) -> Verdict? {
        guard let line = inFlight.removeValue(forKey: number), var delivery = lines[line]?.first else { return nil }
        let wish: Duration?
        switch outcome {
        case .delivered:
            widen()
            advance(line, of: delivery.call)
            return .delivered
        case .failed(let reason, let after):
            widen()
            delivery.reason = reason
            wish = after
        case .unanswered(let reason):
            room = 1
            delivery.reason = reason
            wish = nil
        }
        delivery.attempts += 1
        let since = delivery.failingSince ?? time
        delivery.failingSince = since
        // A clock that was put back makes nothing younger than its first attempt.
        guard max(0, time - since) < configuration.retryTime.wholeNanoseconds / 1_000_000 else {
            advance(line, of: delivery.call)
            return .parked(delivery)
        }
        lines[line]?.replaceFirst(with: delivery)
        deadlines.set(now + delay(after: delivery.attempts, wish, &random), for: line)
        nextDeadline = deadlines.earliest
        return .retried(delivery)
    }

    /// The receiver has answered.
    private mutating func widen() { room = min(configuration.inFlight, room * 2) }

    /// The first delivery of the call is over.
    private mutating func advance(_ line: UInt64, of call: String) {
        count -= 1
        _ = lines[line]?.popFirst()
        if lines[line]?.isEmpty ?? true {
            lines[line] = nil
            numbers[call] = nil
        } else {
            ready.append(line)
        }
    }

    /// Between half of the time and all of it, so that receivers that were down together are not asked together.
    private func delay(after attempts: Int, _ wish: Duration?, _ random: inout some RandomSource) -> Duration {
        let longest = configuration.longestDelay.wholeNanoseconds / 1_000_000
        let doubled = (configuration.firstDelay.wholeNanoseconds / 1_000_000) << min(max(0, attempts - 1), 20)
        let half = min(longest, doubled) / 2
        let drawn = half + Int64(random.nextUInt32()) * half / Int64(UInt32.max)
        let wished = min(longest, (wish?.wholeNanoseconds ?? 0) / 1_000_000)
        return .milliseconds(max(drawn, wished))
    }
}
