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
    let recordings: any Recordings
    let streams: any StreamConnector
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
    /// The legs of applications that calls have lost of late.
    let departed = DepartedLegs()
    /// Refused during the drain.
    let newWork = NewWork()
    let logger: Logger
}

extension RuntimeEnvironment {
    /// Adds entries to the journal, and tells users' registrations and devices what follows from them. The journal has
    /// all or nothing: if the process ends before a registration has taken its message, the next process tells it
    /// (docs/adr/0013).
    func append(
        _ entries: [JournalEntry], telling messages: [(user: UserAddress, message: ServiceMessage)],
        owing pushes: [OwedPush] = []
    ) {
        guard !messages.isEmpty else { return keep(entries, owing: pushes) }
        let owed = messages.map { user, message in
            OwedMessage(number: UInt64(owedMessages.next()), receiver: user, message: message)
        }
        keep(entries + owed.map { .registration(.service(.owed($0))) }, owing: pushes)
        settle(owed.filter { !router.post(.service($0), to: .registration($0.receiver)) })
    }

    /// Notes that messages have been dealt with for users who have no registration. No client of theirs listens;
    /// devices that want to know are told by push.
    func settle(_ messages: [OwedMessage]) {
        guard !messages.isEmpty else { return }
        let pushes = messages.flatMap { owed -> [OwedPush] in
            guard case .voicemail(let count) = owed.message else { return [] }
            return self.pushes(
                owedBy: SilentPush(.messageWaiting(count), to: .allBut([])), to: owed.receiver, account: nil,
                message: owed.number)
        }
        keep([.registration(.service(.settled(messages.map(\.number))))], owing: pushes)
    }

    /// Adds entries and pushes to the journal, which become durable together, and sends the pushes once they are.
    func keep(_ entries: [JournalEntry], owing pushes: [OwedPush]) {
        guard !pushes.isEmpty else { return journal.append(entries) }
        journal.append(entries + pushes.map(JournalEntry.push))
        journal.whenDurable { [push] in push.send(pushes) }
    }

    /// The pushes that a silent push owes to the devices of a user.
    ///
    /// - Parameters:
    ///   - account: the user's; `nil`: unknown.
    ///   - message: the number of the owed message that it follows from; `nil`: it follows from none.
    func pushes(owedBy push: SilentPush, to user: UserAddress, account: AccountIdentity?, message: UInt64?)
        -> [OwedPush]
    {
        OwedPush.owed(
            by: push, to: user, account: account, through: self.push, message: message ?? 0,
            at: clock.epochMilliseconds)
    }

    /// Stops pushes that wake devices for a call, as far as they have not left: that of a device which is back, and
    /// those of a user who declines from a device without a subscription, which may be any of them.
    ///
    /// - Parameter session: the user's leg; `nil`: the fact concerns none.
    func withdrawPushes(after fact: CallEvent.Fact, of session: SessionID?) {
        guard let session else { return }
        let device: PushDeviceID?
        if case .awoke(let back, _) = fact {
            device = back
        } else if case .rejected(device: nil) = fact {
            device = nil
        } else {
            return
        }
        journal.whenDurable { [push] in push.withdraw(session, from: device) }
    }

    /// Tells the owner of an application that a list of a departed leg is over.
    ///
    /// - Returns: `false` if there is no such leg.
    func tellLate(_ list: PlayedList, of leg: LegAddress) -> Bool {
        guard let owner = departed[leg] else { return false }
        router.post(.endedLate(list, of: owner.session, at: leg), to: owner.endpoint)
        return true
    }

    /// The pushes that an event of a call owes.
    ///
    /// - Parameter user: the user of the leg that it concerns; `nil`: it concerns none.
    func pushes(owedBy entry: LoggedEvent, to user: UserAddress?) -> [OwedPush] {
        OwedPush.owed(by: entry, to: user, ringTime: configuration.call.ringTime)
    }
}
