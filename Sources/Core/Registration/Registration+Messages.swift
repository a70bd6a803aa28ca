package import CallControl
package import Primitives

/// Messages between users (spidr-wire §9).
///
/// A message goes into the logs of all subscriptions for messages as soon as one of them listens. Until then it is
/// kept, since a log is of use to a client that comes back for a minute only. It is kept, too, while the device that
/// listens does not confirm what it was sent.
extension Registration {
    /// Counts a message that the user is about to send.
    ///
    /// - Throws: `tooManyMessages`.
    package mutating func chargeMessage(at now: MonotonicTime) throws(ServiceRefusal) {
        if let wait = services.sent.charge(configuration.messages.rate, at: now) {
            throw .tooManyMessages(retryAfter: wait)
        }
    }

    /// A message for the user has come. Its sender is told what becomes of it.
    ///
    /// - Parameter mayKeep: whether there is room for one more message among those that are kept for all users.
    /// - Throws: `inboxFull`, and nothing changes.
    package mutating func receive(
        _ message: InstantMessage, mayKeep: Bool, at now: Moment
    ) throws(ServiceRefusal) -> [RegistrationAction] {
        if services.inbox.isEmpty, takesMessages { return deliver(message, at: now) }
        guard mayKeep else { throw .inboxFull }
        try services.inbox.keep(message)
        noteKept(at: now)
        return [
            .store(.service(.messageKept(message, for: user))), .keptMessagesChanged(by: 1),
            tell(.kept, of: message),
        ]
    }

    /// Takes over what was kept for the user by a process that has ended.
    package mutating func restore(_ messages: [InstantMessage], at now: Moment) -> [RegistrationAction] {
        services.inbox.restore(messages)
        noteKept(at: now)
        return [.keptMessagesChanged(by: messages.count)]
    }

    /// Another registration, or the owner of voice mail, tells the user something about a service.
    package mutating func told(_ message: ServiceMessage, at now: Moment) -> [RegistrationAction] {
        switch message {
        case .messageResult(let result):
            return notify(.messageResult(result), receivers(of: Configuration.messageService), at: now)
        case .presence(let report): return told(report, at: now)
        case .askedPresence(let report):
            return notify(.presence(report), receivers(of: Configuration.presenceService), at: now)
        case .voicemail(let count):
            var actions = notify(.voicemail(count), active.map(\.id), at: now)
            for event in services.interests.voicemailEvents {
                actions += tellEvent(EventReport(count, to: event), at: now)
            }
            return actions + pushVoicemail(count)
        case .voicemailFor(let event, let count): return tellEvent(EventReport(count, to: event), at: now)
        case .pushInvalidated(let invalidation):
            return notify(.pushInvalidated(invalidation), receivers(of: Configuration.callService), at: now)
        case .unwatched(let watcher):
            services.watchers.remove(watcher)
            return []
        }
    }

    /// Notifies subscriptions of a service.
    mutating func notify(
        _ notice: ServiceNotice, _ receivers: [SubscriptionID], at now: Moment
    ) -> [RegistrationAction] {
        notify(receivers, .service(notice), at: now)
    }

    /// Delivers what is kept, in order, if a device for messages listens. What its log has no room for is delivered
    /// when the device has confirmed something.
    mutating func deliverKept(at now: Moment) -> [RegistrationAction] {
        var actions: [RegistrationAction] = []
        while takesMessages, let message = services.inbox.takeFirst() {
            actions += removed([message]) + deliver(message, at: now)
        }
        if !actions.isEmpty { noteKept(at: now) }
        return actions
    }

    /// Gives up the messages that were kept for long enough.
    mutating func expireKept(at now: Moment) -> [RegistrationAction] {
        guard let end = services.inboxEnd, end <= now.monotonic else { return [] }
        let messages = services.inbox.takeExpired(at: now.epochMilliseconds)
        noteKept(at: now)
        return messages.isEmpty ? [] : removed(messages) + messages.map { tell(.expired, of: $0) }
    }

    /// Forgets all messages that are kept.
    mutating func forgetKept(at now: Moment) -> [RegistrationAction] {
        let messages = services.inbox.takeAll()
        noteKept(at: now)
        return messages.isEmpty ? [] : removed(messages)
    }

    // MARK: Private

    /// Whether a device for messages listens, and the logs of all that do have room.
    private var takesMessages: Bool {
        var isListening = false
        // Every message asks, so that no subscription is copied.
        for index in subscriptions.indices
        where !subscriptions[index].isEnding && subscriptions[index].socket != nil
            && subscriptions[index].isGranted(Configuration.messageService)
        {
            guard subscriptions[index].queue.hasRoom else { return false }
            isListening = true
        }
        return isListening
    }

    private mutating func deliver(_ message: InstantMessage, at now: Moment) -> [RegistrationAction] {
        notify(.message(message), receivers(of: Configuration.messageService), at: now)
            + [tell(.delivered, of: message)]
    }

    private func removed(_ messages: [InstantMessage]) -> [RegistrationAction] {
        [
            .store(.service(.messagesRemoved(messages.map(\.id), of: user))),
            .keptMessagesChanged(by: -messages.count),
        ]
    }

    private func tell(_ outcome: MessageResult.Outcome, of message: InstantMessage) -> RegistrationAction {
        .tell(message.sender, .messageResult(MessageResult(message: message.id, receiver: user, outcome: outcome)))
    }

    /// Notes when the oldest message has been kept for long enough.
    private mutating func noteKept(at now: Moment) {
        services.inboxEnd = services.inbox.timeToExpiry(at: now.epochMilliseconds).map { now.monotonic + $0 }
    }
}
