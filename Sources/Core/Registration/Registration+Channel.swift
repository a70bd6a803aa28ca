package import CallControl
package import Primitives

/// The notification channel (spidr-wire §4): what is sent, and over which socket.
extension Registration {
    /// Whether every client that listens has been sent all its notifications, or as many as it can be sent before it
    /// confirms some.
    package var hasToldAll: Bool {
        subscriptions.allSatisfy { $0.socket == nil || $0.queue.isReleased || $0.queue.isFull }
    }

    /// Whether a client may not know yet that the user's session is over. The notification may be held back, or may be
    /// on its way while the client makes a request; or the client's channel is cut, and the client is told when it is
    /// back.
    ///
    /// - Parameter device: the subscription that asks; `nil`: it is not known which.
    package func awaitsEnd(of session: SessionID, on device: SubscriptionID?, at now: MonotonicTime) -> Bool {
        let digested = now - configuration.answerTime
        return subscriptions.contains { subscription in
            (device ?? subscription.id) == subscription.id
                && subscription.queue.awaitsEnd(of: session, isListening: subscription.socket != nil, after: digested)
        }
    }

    /// The phase of a subscription; `nil`: it does not exist, or not any more.
    package func phase(of id: SubscriptionID, at now: MonotonicTime) -> SubscriptionPhase? {
        subscriptions.first { $0.id == id }?.phase(at: now)
    }

    /// Whether there is a subscription of this name that has not ended.
    package func subscriptionExists(_ id: SubscriptionID) -> Bool { activeIndex(of: id) != nil }

    /// Whether the channel belongs to a subscription that has not ended.
    package func channelExists(_ channel: ChannelID) -> Bool {
        subscriptions.contains { $0.channel == channel && !$0.isEnding }
    }

    /// The sockets that are open.
    package var sockets: [SocketID] { subscriptions.compactMap(\.socket) }

    /// A socket has opened on the channel. It replaces an older one, and is sent what the client may have missed.
    ///
    /// - Parameter latest: the number of the last notification that the client says it has; `nil`: it does not say. A
    ///   number that is none of this subscription means nothing.
    /// - Throws: `noSuchSubscription` if the channel belongs to no subscription, or to one that has ended.
    package mutating func channelOpened(
        _ channel: ChannelID, on socket: SocketID, since latest: UInt64? = nil, at now: Moment
    ) throws(RegistrationError) -> [RegistrationAction] {
        guard let index = places.index(of: channel, in: subscriptions), !subscriptions[index].isEnding else {
            throw .noSuchSubscription
        }
        var actions: [RegistrationAction] = []
        if let former = subscriptions[index].socket, former != socket {
            // This frame is for the old socket alone. The new one must not see it, not even later.
            let lastFrame = subscriptions[index].queue.frame(.overridden, at: now)
            actions += [
                .store(.numbered(subscriptions[index].id, lastFrame.eventID)), .transmit(lastFrame, to: former),
                .close(former, .replaced),
            ]
        }
        subscriptions[index].socket = socket
        actions += informListening(subscriptions[index])
        actions += lose(subscriptions[index].queue.forgetOld(at: now.monotonic), at: index)
        if let latest, let missing = subscriptions[index].queue.resume(after: latest, at: now.monotonic) {
            // The client says exactly what it has, and so counts what it was never sent, and what it was sent in vain.
            actions += lose(missing - subscriptions[index].lost, at: index)
        }
        let replayed = subscriptions[index].queue.replay(at: now.monotonic)
        send(replayed, of: index, to: socket, &actions)
        // While no client listens, no timer is set for notifications that wait; so the time is checked here.
        gate.timeout(at: now.monotonic)
        return actions + pump(at: now.monotonic) + tellLoss(at: now) + deliverKept(at: now)
    }

    /// A client has received everything that was sent on the channel up to a number.
    ///
    /// - Returns: `nil` if nothing waited for that: no deadline has changed either. Most confirmations are like this,
    ///   and a user may have many devices that confirm.
    package mutating func confirmed(
        _ channel: ChannelID, through number: UInt64, at now: Moment
    ) -> [RegistrationAction]? {
        guard let index = places.index(of: channel, in: subscriptions) else { return nil }
        subscriptions[index].queue.confirm(through: number)
        let hasMore = !subscriptions[index].queue.isReleased || subscriptions[index].lost > 0
        guard hasMore || subscriptions[index].isEnding || !services.inbox.isEmpty else { return nil }
        return pump(at: now.monotonic) + tellLoss(at: now) + deliverKept(at: now)
    }

    /// A socket has closed. One that had been replaced before is ignored.
    package mutating func channelClosed(
        _ channel: ChannelID, on socket: SocketID, at now: MonotonicTime
    ) -> [RegistrationAction] {
        guard let index = places.index(of: channel, in: subscriptions), subscriptions[index].socket == socket else {
            return []
        }
        subscriptions[index].socket = nil
        return pump(at: now)
    }

    /// Whether any client of the user listens.
    package var isReachable: Bool { subscriptions.contains { $0.socket != nil && !$0.isLeaving } }

    /// Ends a subscription. After `lastNotice` it gets no more notifications; those that wait are still sent.
    ///
    /// - Parameters:
    ///   - lastNotice: the last notification; `nil`: none.
    ///   - informing: whether the calls of the user lose a device by this.
    ///   - othersRemain: see `DeviceChange`.
    mutating func end(
        _ id: SubscriptionID, saying lastNotice: Notice?, informing: Bool, othersRemain: Bool = false,
        at now: Moment
    ) -> [RegistrationAction] {
        guard let index = activeIndex(of: id) else { return [] }
        let hadDevice = subscriptions[index].device != nil
        var actions: [RegistrationAction] = []
        if let lastNotice, subscriptions[index].socket != nil {
            append(lastNotice, to: index, at: now, &actions)
        }
        subscriptions[index].isEnding = true
        actions += [.store(.unsubscribed(id)), .subscriptionsChanged(by: -1)]
        if let network = subscriptions[index].network {
            actions.append(.networkChanged(.left(network)))
        }
        return actions + (informing && hadDevice ? inform(.left(id, othersRemain: othersRemain)) : [])
    }

    /// Adds a notice to the queue of a subscription, behind the requests in flight.
    ///
    /// - Parameter actions: gets the actions, behind those that it has. A notice may go to a thousand subscriptions.
    mutating func append(_ notice: Notice, to index: Int, at now: Moment, _ actions: inout [RegistrationAction]) {
        let (frame, lost) = subscriptions[index].queue.append(notice, behind: gate.newest, at: now)
        actions.append(.store(.notified(subscriptions[index].id, frame)))
        actions += lose(lost, at: index)
    }

    /// Notes that a client will never be sent some notifications of its subscription, or was sent them in vain.
    ///
    /// - Parameter count: negative if there are fewer than was noted before.
    private mutating func lose(_ count: Int, at index: Int) -> [RegistrationAction] {
        guard count != 0 else { return [] }
        subscriptions[index].lost += count
        let (id, lost) = (subscriptions[index].id, subscriptions[index].lost)
        let noted = RegistrationAction.store(
            .forgotten(id, through: subscriptions[index].queue.firstKept &- 1, lost: lost))
        return count > 0 ? [.discarded(count, of: id), noted] : [noted]
    }

    /// Tells clients that have been sent everything else how much they missed.
    private mutating func tellLoss(at now: Moment) -> [RegistrationAction] {
        let told = subscriptions.indices.flatMap { tellLoss(at: $0, at: now) }
        return told.isEmpty ? [] : told + pump(at: now.monotonic)
    }

    /// Tells a client that listens how many notifications it will never be sent, once. If some still wait, the client
    /// is told later.
    mutating func tellLoss(at index: Int, at now: Moment) -> [RegistrationAction] {
        let lost = subscriptions[index].lost
        guard lost > 0, subscriptions[index].socket != nil, subscriptions[index].queue.isReleased else { return [] }
        subscriptions[index].lost = 0
        let id = subscriptions[index].id
        let (frame, more) = subscriptions[index].queue.append(.lost(lost), behind: gate.newest, at: now)
        return [.store(.notified(id, frame)), .store(.forgotten(id, through: 0, lost: 0))] + lose(more, at: index)
    }

    /// Forgets released notifications that are too old, in all subscriptions.
    mutating func forgetOld(at now: MonotonicTime) -> [RegistrationAction] {
        subscriptions.indices.flatMap { index in
            lose(subscriptions[index].queue.forgetOld(at: now), at: index)
        }
    }

    /// Sends what no request holds back any more, and removes ended subscriptions that have nothing left to send.
    mutating func pump(at now: MonotonicTime) -> [RegistrationAction] {
        var actions: [RegistrationAction] = []
        let gate = self.gate
        var hasAnySaidAll = false
        // No subscription is copied: a user may have a thousand, most of which have nothing to send.
        for index in subscriptions.indices {
            let socket = subscriptions[index].socket
            if !subscriptions[index].queue.isReleased {
                let id = subscriptions[index].id
                let released = subscriptions[index].queue.release(isListening: socket != nil, at: now) {
                    gate.holds($0, about: $1, for: id)
                }
                if let socket { send(released, of: index, to: socket, &actions) }
            }
            if subscriptions[index].hasSaidAll { hasAnySaidAll = true }
        }
        if hasAnySaidAll {
            for subscription in subscriptions where subscription.hasSaidAll {
                if let socket = subscription.socket { actions.append(.close(socket, .subscriptionEnded)) }
            }
            subscriptions.removeAll { $0.hasSaidAll }
        }
        return actions + reachability()
    }

    /// Sends frames of a subscription. That they were sent is kept first: a client that is sent them again recognises
    /// only the last ones (spidr-wire §4.3).
    ///
    /// - Parameter actions: gets the actions, behind those that it has.
    private func send(
        _ outgoing: [NotificationQueue.Outgoing], of index: Int, to socket: SocketID,
        _ actions: inout [RegistrationAction]
    ) {
        guard let last = outgoing.last else { return }
        actions.append(.store(.transmitted(subscriptions[index].id, through: last.frame.eventID)))
        for next in outgoing { actions.append(next.action(to: socket)) }
    }

    /// Tells the user's calls when the first client starts to listen, and when the last one stops.
    private mutating func reachability() -> [RegistrationAction] {
        guard isReachable != wasReachable else { return [] }
        wasReachable = isReachable
        return inform(.channelsOpen(isReachable))
    }
}

extension Subscription {
    /// Without a socket nothing can be sent: the channel of an ended subscription cannot be opened again.
    fileprivate var hasSaidAll: Bool { isEnding && (socket == nil || queue.isReleased && closing == nil) }
}

extension NotificationQueue.Outgoing {
    fileprivate func action(to socket: SocketID) -> RegistrationAction {
        isReplay ? .replay(frame, to: socket) : .transmit(frame, to: socket)
    }
}
