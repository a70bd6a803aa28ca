package import Logging
package import Observability
package import Push
internal import HTTPClient
internal import Primitives
internal import Sockets

/// Sends pushes to devices by Apple's push service, Firebase and webhooks.
///
/// It has an owner thread, which decides, and two clients with a thread each: one for the providers, and one for
/// webhooks, whose hosts nobody has chosen with care.
package final class PushClient: Sendable {
    /// Called once for a push, on the owner's thread: it must not block. The registration is the one that the push was
    /// last sent to.
    package typealias Completion = @Sendable (PushOutcome, PushRegistration) -> Void
    /// Says what a registration is by now; `nil`: the user has it no more. It is asked on the owner's thread whenever a
    /// push is about to be sent, and must not block.
    package typealias LookUp = @Sendable (PushRegistration) -> PushRegistration?

    private let mailbox: Mailbox<PushInput>
    private let isStopped = Lock(false)
    private let thread: WorkerThread

    /// Starts a client.
    ///
    /// - Parameter lookUp: how a registration that a push waits for is looked up. Unless given, none ever changes.
    /// - Throws: `SocketError` if a thread or a descriptor cannot be had.
    package init(
        _ configuration: PushConfiguration, lookUp: @escaping LookUp = { $0 }, metrics: GatewayMetrics, logger: Logger
    ) throws {
        let wakeUp = try WakeUp()
        let mailbox = Mailbox<PushInput>(capacity: .max, wakeUp: wakeUp)
        let loop = SendableBox(
            try PushLoop(
                configuration, lookUp: lookUp, metrics: metrics, logger: logger, mailbox: mailbox, wakeUp: wakeUp))
        self.mailbox = mailbox
        thread = try WorkerThread(name: "push") { loop.take().run() }
    }

    deinit { mailbox.send(.stop) }

    /// Sends a message to a device, and calls `completion` once with what has become of it. If too many pushes wait, it
    /// is given up.
    package func send(_ message: PushMessage, to registration: PushRegistration, completion: @escaping Completion) {
        let job = PushJob(message: message, registration: registration, completion: completion)
        let isTaken = isStopped.withLock { isStopped in
            if !isStopped { mailbox.send(.submit(job)) }
            return !isStopped
        }
        if !isTaken { completion(.givenUp(.shutDown), registration) }
    }

    /// Sends a message to a device, and returns what has become of it.
    package func send(_ message: PushMessage, to registration: PushRegistration) async -> PushOutcome {
        await withCheckedContinuation { continuation in
            send(message, to: registration) { outcome, _ in continuation.resume(returning: outcome) }
        }
    }

    /// A message is not wanted any more: it is given up unless the provider has been asked, and is not sent again.
    package func withdraw(_ message: PushID) { mailbox.send(.withdraw(message)) }

    /// Gives up all pushes, closes all connections, and waits for the end of the threads. Later pushes are given up. It
    /// must not be called from a completion.
    package func shutDown() {
        isStopped.withLock { isStopped in
            guard !isStopped else { return }
            isStopped = true
            mailbox.send(.stop)
        }
        thread.join()
    }
}

/// A push on its way to the owner. It is an object, since a value of its size would be copied at each step.
final class PushJob: Sendable {
    let message: PushMessage
    let registration: PushRegistration
    let completion: PushClient.Completion

    init(message: PushMessage, registration: PushRegistration, completion: @escaping PushClient.Completion) {
        self.message = message
        self.registration = registration
        self.completion = completion
    }
}

/// What the owner is told.
enum PushInput: Sendable {
    case submit(PushJob)
    /// The message of this name is not wanted any more.
    case withdraw(PushID)
    /// A provider has answered, or there is no answer.
    case answered(lane: UInt64, push: UInt64, Result<HTTPResponse, HTTPFailure>)
    /// The token service has answered a request for a token of the project.
    case tokenAnswered(lane: UInt64, project: String, Result<HTTPResponse, HTTPFailure>)
    case stop
}
