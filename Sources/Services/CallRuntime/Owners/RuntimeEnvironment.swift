import CallControl
import Logging
import Registration

/// What every owner gets: the configuration, the other owners, and the ports.
struct RuntimeEnvironment: Sendable {
    let configuration: LocalSwitchboard.Configuration
    /// How owners reach each other.
    let router: any OwnerRouter
    let media: any MediaPort
    let channels: any ChannelPort
    let push: any PushPort
    let log: any CallLog
    /// `nil`: the events of calls are not kept.
    let eventLog: (any CallEventLog)?
    let journal: any Journal
    let clock: any RuntimeClock
    let random: SharedRandomSource
    let observer: any RuntimeObserver
    let subscriptions = ProcessCount()
    /// For the `UserDirectory`, which counts the subscriptions of each network.
    let networkChanges = Inbox<NetworkChange>()
    /// The messages that are kept for all users.
    let keptMessages = ProcessCount()
    /// The last number that was given to an owed message.
    let owedMessages = ProcessCount()
    /// Refused during the drain.
    let newWork = NewWork()
    let logger: Logger
}

extension RuntimeEnvironment {
    /// Adds entries to the journal, and tells users' registrations what follows from them. The journal has both or
    /// neither: if the process ends before a registration has taken its message, the next process tells it
    /// (docs/adr/0013).
    func append(_ entries: [JournalEntry], telling messages: [(user: UserAddress, message: ServiceMessage)]) {
        guard !messages.isEmpty else { return journal.append(entries) }
        let owed = messages.map { user, message in
            OwedMessage(number: UInt64(owedMessages.next()), receiver: user, message: message)
        }
        journal.append(entries + owed.map { .registration(.service(.owed($0))) })
        // Without a registration there is nobody to be told.
        settle(owed.filter { !router.post(.service($0), to: .registration($0.receiver)) }.map(\.number))
    }

    /// Notes that nobody has to be told these messages any more.
    func settle(_ numbers: [UInt64]) {
        if !numbers.isEmpty { journal.append(.registration(.service(.settled(numbers)))) }
    }

    /// Adds entries and pushes to the journal, which become durable together, and sends the pushes once they are.
    func keep(_ entries: [JournalEntry], owing pushes: [OwedPush]) {
        journal.append(entries + pushes.map(JournalEntry.push))
        guard !pushes.isEmpty else { return }
        journal.whenDurable { [push] in push.send(pushes) }
    }

    /// The pushes that an event of a call owes.
    ///
    /// - Parameter user: the user of the leg that it concerns; `nil`: it concerns none.
    func pushes(owedBy entry: LoggedEvent, to user: UserAddress?) -> [OwedPush] {
        OwedPush.owed(by: entry, to: user, ringTime: configuration.call.ringTime)
    }
}
