package import CallControl
package import CallRuntime
package import Logging
import Push
import Observability
import Primitives
package import Registration
import Sockets

/// Sends the pushes that devices are owed, and acts on what becomes of them.
///
/// Its loop owns the outbox. A push that was sent, and one that is of no use any more, is settled in the journal, so
/// that the next process does not send it again.
package final class PushDelivery: PushPort {
    /// What the loop is told.
    private enum Input: Sendable {
        case owed([OwedPush])
        case withdrawn(SessionID, PushDeviceID?)
        case ended(OwedPush, PushRegistration, PushOutcome)
        case dead(PushRegistration, reason: String, since: UInt64?)
    }

    let directory: PushDirectory
    let sender: any PushSender
    private let journal: any Journal
    let clock: any RuntimeClock
    private let logger: Logger
    /// What an earlier process has owed, until it is in the outbox.
    private let restored: Lock<[OwedPush]>
    private let inbox = Lock<[Input]>([])
    private let bells: AsyncStream<Void>
    private let bell: AsyncStream<Void>.Continuation
    /// How many pushes are owed, as the loop last knew.
    private let owed = Lock(0)

    /// Makes a delivery; ``run(telling:)`` sends.
    ///
    /// - Parameter restored: what an earlier process has owed, in the order in which it was decided.
    package init(
        _ directory: PushDirectory, through sender: any PushSender, restoring restored: [OwedPush] = [],
        journal: any Journal, clock: any RuntimeClock, logger: Logger
    ) {
        self.directory = directory
        self.sender = sender
        self.restored = Lock(restored)
        self.journal = journal
        self.clock = clock
        self.logger = logger
        (bells, bell) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// The devices of a user that want to be woken for calls; answers at once.
    package func devices(of user: UserAddress, account: AccountIdentity?) -> [SleepingDevice] {
        directory.devices(of: user, account: account)
    }

    /// The devices of a user that take silent pushes of a kind; answers at once.
    package func devices(
        of user: UserAddress, account: AccountIdentity?, forSilent use: SilentPushUse
    ) -> [SleepingDevice] {
        directory.devices(of: user, account: account, forSilent: use)
    }

    /// Sends pushes. To be called once they are durable; returns at once.
    package func send(_ pushes: [OwedPush]) { post(.owed(pushes)) }

    /// Stops the pushes of a call; see `PushPort`.
    package func withdraw(_ session: SessionID, from device: PushDeviceID?) { post(.withdrawn(session, device)) }

    /// Whether pushes are owed that no provider has taken yet.
    package var isBusy: Bool { owed.withLock { $0 > 0 } || inbox.withLock { !$0.isEmpty } }

    /// Sends what is owed until the task is cancelled. To be called once.
    ///
    /// - Parameter news: is told of registrations that have ended.
    package func run(telling news: any PushNews) async {
        var outbox = PushOutbox<OwedPush>()
        // What the restoration of calls has decided is known then, so that a call that was cut off wakes nobody.
        await allIsDurable()
        let restored = self.restored.withLock { restored in
            defer { restored = [] }
            return restored.map(Self.entry)
        }
        await carryOut(outbox.restore(restored), &outbox, news)
        bell.yield()
        for await _ in bells {
            let inputs = inbox.withLock { inputs in
                // They count as owed until they are in the outbox.
                owed.withLock { $0 += inputs.count }
                defer { inputs = [] }
                return inputs
            }
            for input in inputs {
                switch input {
                case .owed(let pushes):
                    for push in pushes { await carryOut(outbox.owe(Self.entry(push)), &outbox, news) }
                case .withdrawn(let session, let device):
                    await carryOut(outbox.withdraw(call: session.rawValue, from: device?.rawValue), &outbox, news)
                case .ended(let push, let registration, let outcome):
                    await ended(push, registration, outcome, &outbox, news)
                case .dead(let registration, let reason, let since):
                    await remove(registration, reason, since: since, news)
                }
            }
            await carryOut(outbox.handOver(at: now), &outbox, news)
            let count = outbox.count
            owed.withLock { $0 = count }
        }
    }

    /// A provider has said outside of what is owed that a device cannot be reached any more.
    func noteDead(_ registration: PushRegistration, because reason: String, since: UInt64?) {
        post(.dead(registration, reason: reason, since: since))
    }

    // MARK: - Private

    private var now: UInt64 { UInt64(clamping: clock.epochMilliseconds) }

    private func post(_ input: Input) {
        inbox.withLock { $0.append(input) }
        bell.yield()
    }

    /// Returns once everything that was added to the journal before is durable, or the task is cancelled.
    private func allIsDurable() async {
        while !Task.isCancelled {
            do throws(StorageError) {
                return try await journal.durable()
            } catch {
                // The journal itself says what is wrong. Fails only if the task is cancelled.
                do { try await clock.sleep(until: clock.now + .milliseconds(250)) } catch { return }
            }
        }
    }

    private static func entry(_ push: OwedPush) -> PushOutbox<OwedPush>.Entry {
        .init(
            name: push.name, device: push.device.rawValue, subject: push.occasion.subject,
            expires: UInt64(clamping: push.expiresAt), content: push)
    }

    private func carryOut(
        _ actions: [PushOutbox<OwedPush>.Action], _ outbox: inout PushOutbox<OwedPush>, _ news: any PushNews
    ) async {
        for action in actions {
            switch action {
            case .settle(let name, _): journal.append(.pushSettled(name))
            case .withdraw(let name): sender.withdraw(PushID(naming: name))
            case .send(let entry):
                let push = entry.content
                guard let registration = await directory.registration(push.device),
                    registration.user == push.user.text, let message = PushMessage(push)
                else {
                    // The device is gone, or is another user's by now.
                    await settle(push, .givenUp(.unregistered), &outbox, news)
                    continue
                }
                sender.send(message, to: registration) { [self] in post(.ended(push, $1, $0)) }
            }
        }
    }

    /// A push is not owed any more. A call does not wait for a device that it cannot wake.
    private func settle(
        _ push: OwedPush, _ outcome: PushOutcome, _ outbox: inout PushOutbox<OwedPush>, _ news: any PushNews
    ) async {
        journal.append(.pushSettled(push.name))
        if outcome.hasFailed, case .call(let told) = push.occasion { news.notWoken(push.device, for: told) }
        await carryOut(outbox.settled(push.name, mayHaveArrived: outcome.mayHaveArrived), &outbox, news)
    }

    private func remove(
        _ registration: PushRegistration, _ reason: String, since: UInt64?, _ news: any PushNews
    ) async {
        guard await directory.removeDead(registration, since: since) else { return }
        logger.notice(
            "a registration for push is removed: its device cannot be reached any more",
            metadata: [LogKey.request: "\(registration.id)", LogKey.reason: "\(reason)"])
        guard let user = UserAddress(parsing: registration.user) else { return }
        news.pushInvalidated(registration, of: user, because: reason)
    }

    private func ended(
        _ push: OwedPush, _ registration: PushRegistration, _ outcome: PushOutcome,
        _ outbox: inout PushOutbox<OwedPush>, _ news: any PushNews
    ) async {
        // The next process sends it if it is still of use.
        if outcome == .givenUp(.shutDown) { return }
        await settle(push, outcome, &outbox, news)
        switch outcome {
        case .delivered: break
        case .registrationDead(let reason, let since):
            await remove(registration, reason, since: since, news)
        case .givenUp(let failure):
            logger.notice(
                "a push was given up",
                metadata: [LogKey.request: "\(registration.id)", LogKey.reason: "\(failure)"])
        }
    }
}

extension OwedPush.Occasion {
    /// What the push is about, for the outbox.
    fileprivate var subject: PushOutbox<OwedPush>.Subject {
        switch self {
        case .call(let event): event.event.audience.map { .call(session: $0.session.rawValue) } ?? .other
        case .callOver(let event, _, _):
            event.event.audience.map { .callOver(session: $0.session.rawValue) } ?? .other
        case .gone, .messageWaiting, .refresh: collapseKey.map { .replaceable(key: $0) } ?? .other
        }
    }
}
