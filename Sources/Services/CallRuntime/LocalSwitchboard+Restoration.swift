import CallControl
import EventAPI
import Logging
import Observability
import Primitives
import Registration

/// What a process takes over from one that has ended (docs/adr/0013).
extension LocalSwitchboard {
    /// Takes over guests, subscriptions and their notifications, and ends the calls that were cut off: their media is
    /// gone. To be called once, before `run()`. What it adds to the journal becomes durable together: if this process
    /// is killed, too, the next one finds either all of it or what this one found.
    package func restore(_ contents: JournalContents) async {
        environment.journal.suspend()
        defer { environment.journal.resume() }
        for guest in contents.guests {
            do throws(RegistrationError) {
                try await users.restore(guest)
            } catch {
                // Without a place, the guest can be called by nobody, and may call nobody; the subscription runs out.
                environment.logger.notice("a guest of the last process exceeds the limits")
            }
        }
        for (user, subscriptions) in Dictionary(grouping: contents.subscriptions, by: \.subscription.user) {
            await restore(subscriptions, of: user)
        }
        await restore(contents.services)
        let untold = UntoldEvents(contents.subscriptions, stoppedAt: contents.stoppedAt)
        let calls = contents.calls.compactMap { events in LoggedCall(events).map { (events, $0) } }
        // A leg that another call had taken over ends there.
        let takenOver = calls.flatMap { _, call in call.takenOver.map { ($0, call.id) } }
        var interruptedCount = 0
        for (events, call) in calls {
            for entry in untold.events(of: events) { await tell(entry, in: call) }
            let elsewhere = takenOver.filter { $0.1 != call.id }.map(\.0)
            let (ending, records) = call.interruption(at: contents.stoppedAt, without: Set(elsewhere))
            if !ending.isEmpty {
                interruptedCount += 1
                // The process that counted the start counts no more; this one counts the end.
                environment.observer.callMeasured(.started)
            }
            let publications = ending.compactMap { entry in
                Publication(entry, of: call.holders, trace: call.trace).map { JournalEntry.published($0) }
            }
            // The next process finds all of this or nothing.
            environment.keep(
                ending.map { .event($0) } + publications + records.compactMap { environment.log.add($0) },
                owing: ending.flatMap { entry in
                    environment.pushes(owedBy: entry, to: entry.event.leg.flatMap { call.user(of: $0) })
                })
            for entry in ending {
                environment.eventLog?.add(entry)
                if let measure = entry.event.measure { environment.observer.callMeasured(measure) }
                await tell(entry, in: call)
            }
        }
        guard interruptedCount > 0 || !contents.subscriptions.isEmpty else { return }
        environment.logger.info(
            "taken over from the last process",
            metadata: [
                LogKey.subscriptions: "\(contents.subscriptions.count)", LogKey.calls: "\(interruptedCount)",
            ])
    }

    /// Makes the owner of a user's subscriptions. Those of a user who was removed meanwhile are over, and so are those
    /// of an account that another one of the same address has followed.
    private func restore(_ subscriptions: [RestoredSubscription], of user: UserAddress) async {
        var (subscriptions, displayName) = (subscriptions, Self.guestName)
        if user.guest == nil {
            do throws(StorageError) {
                let account = try await repository.user(user)
                let isOver = { (restored: RestoredSubscription) in
                    account.map { $0.identity != restored.subscription.account ?? $0.identity } ?? true
                }
                for restored in subscriptions where isOver(restored) {
                    environment.journal.append(.registration(.unsubscribed(restored.subscription.id)))
                }
                subscriptions.removeAll(where: isOver)
                guard let account, !subscriptions.isEmpty else { return }
                displayName = account.displayName
            } catch {
                displayName = ""
                environment.logger.warning(
                    "display name could not be read", metadata: [LogKey.error: "\(error.label)"])
            }
        }
        await users.owner(of: user).restore(subscriptions, displayName: displayName)
    }

    /// Tells the devices of a leg an event of a call that has no owner any more.
    private func tell(_ entry: LoggedEvent, in call: LoggedCall) async {
        guard entry.event.audience != nil, let user = entry.event.leg.flatMap({ call.user(of: $0) }) else { return }
        await owners.registration(of: user)?.tellRestored(entry)
    }
}
