/// The pushes that devices are owed, until a provider has taken them or they are of no use any more.
///
///     owed ──▶ waiting ──▶ handed over ──▶ settled
///                │ the call need not ring any more: the call and its end are settled, and nothing is sent
///                             └ the same: the call is withdrawn; its end is held until the call's outcome is known
///
/// A device is told of a call and of its end in this order, whatever the provider does. A call that cannot have reached
/// the device has no end. No call of an earlier process rings, so that only its end is sent.
///
/// Of pushes that replace each other a device is sent the latest one, and an earlier one never comes behind it.
package struct PushOutbox<Content: Sendable>: Sendable {
    /// What a push is about.
    package enum Subject: Hashable, Sendable {
        /// A call comes in; the name is that of the user's leg.
        case call(session: String)
        /// That call need not ring any more.
        case callOver(session: String)
        /// A later push of the same key to the same device says all that the device needs.
        case replaceable(key: String)
        /// Something else.
        case other
    }

    /// A push that is owed.
    package struct Entry: Sendable {
        /// The name of the push; no other one ever has it.
        package var name: String
        /// The name of the device's registration.
        package var device: String
        /// What the push is about.
        package var subject: Subject
        /// When it is of no use any more, in milliseconds since 1970.
        package var expires: UInt64
        /// What is sent.
        package var content: Content

        /// Makes an entry of its parts; each parameter is the property of that name.
        package init(name: String, device: String, subject: Subject, expires: UInt64, content: Content) {
            self.name = name
            self.device = device
            self.subject = subject
            self.expires = expires
            self.content = content
        }
    }

    /// What is to be done.
    package enum Action: Sendable {
        /// The push is handed to the provider.
        case send(Entry)
        /// The provider was handed this push, and need not get it any more.
        case withdraw(name: String)
        /// The push is not owed any more; nothing is sent.
        case settle(name: String, Reason)
    }

    /// Why a push is not sent.
    package enum Reason: Hashable, Sendable {
        /// Its time is over.
        case expired
        /// The device has nothing to be told: it was not woken, or is told by a later push.
        case needless
    }

    /// What later pushes find a push by.
    fileprivate enum Topic: Hashable {
        /// A call that rings at a device.
        case call(session: String, device: String)
        /// A push that a later one of the key to the device replaces.
        case replaceable(key: String, device: String)
    }

    /// A push that a provider was handed.
    private struct Handed {
        /// What it is found by; `nil`: no later push is about it.
        var topic: Topic?
    }

    /// The pushes that were not handed to a provider, in order; `nil`: one that was taken out.
    private var waiting: [Entry?] = []
    /// Where those are, by name.
    private var places: [String: Int] = [:]
    /// The pushes that a provider was handed, and whose outcome is not known, by name.
    private var handed: [String: Handed] = [:]
    /// The names of the calls among both, by session and device.
    private var calls: [String: [String: String]] = [:]
    /// The names of the replaceable pushes among both.
    private var latest: [Topic: String] = [:]
    /// What waits for the outcome of a push, by the name of that one: the end of a call, or what replaces the push.
    private var held: [String: Entry] = [:]

    /// Makes an empty outbox.
    package init() {}

    /// How many pushes are owed.
    package var count: Int { places.count + handed.count + held.count }

    /// Takes over what an earlier process has owed, in the order in which it was decided.
    ///
    /// - Returns: what is to be done at once.
    package mutating func restore(_ entries: some Sequence<Entry>) -> [Action] {
        var actions: [Action] = []
        for entry in entries {
            if case .call = entry.subject {
                actions.append(.settle(name: entry.name, .needless))
            } else {
                actions += owe(entry)
            }
        }
        return actions
    }

    /// A push is owed. One whose name is known already is not owed twice.
    ///
    /// - Returns: what is to be done at once.
    package mutating func owe(_ entry: Entry) -> [Action] {
        guard handed[entry.name] == nil, places[entry.name] == nil else { return [] }
        var actions: [Action] = []
        switch entry.subject {
        case .call(let session): calls[session, default: [:]][entry.device] = entry.name
        case .callOver(let session):
            guard let call = calls[session]?[entry.device] else { break }
            guard handed[call] != nil else {
                takeOut(call)
                return [.settle(name: call, .needless), .settle(name: entry.name, .needless)]
            }
            guard held[call] == nil else { return [.settle(name: entry.name, .needless)] }
            held[call] = entry
            return [.withdraw(name: call)]
        case .replaceable(let key):
            let topic = Topic.replaceable(key: key, device: entry.device)
            if let former = latest[topic] {
                guard handed[former] == nil else { return hold(entry, behind: former) }
                takeOut(former)
                actions = [.settle(name: former, .needless)]
            }
            latest[topic] = entry.name
        case .other: break
        }
        places[entry.name] = waiting.count
        waiting.append(entry)
        return actions
    }

    /// Keeps a push until the outcome of the one that it replaces is known: of two that are on their way at once the
    /// earlier one could come last.
    private mutating func hold(_ entry: Entry, behind former: String) -> [Action] {
        guard let earlier = held.updateValue(entry, forKey: former) else { return [.withdraw(name: former)] }
        return earlier.name == entry.name ? [] : [.settle(name: earlier.name, .needless)]
    }

    /// A device need not be woken for a call any more, and is told nothing of that.
    ///
    /// - Parameter device: the device; `nil`: all that the call may wake.
    /// - Returns: what is to be done at once.
    package mutating func withdraw(call session: String, from device: String?) -> [Action] {
        let names = (calls[session] ?? [:]).filter { device == nil || $0.key == device }.map(\.value).sorted()
        let waits = names.filter { places[$0] != nil }
        for name in waits { takeOut(name) }
        return names.filter { handed[$0] != nil }.map { .withdraw(name: $0) }
            + waits.map { .settle(name: $0, .needless) }
    }

    /// Everything that waits is handed over, in order.
    ///
    /// - Parameter now: milliseconds since 1970.
    package mutating func handOver(at now: UInt64) -> [Action] {
        let entries = waiting.compactMap(\.self)
        (waiting, places) = ([], [:])
        return entries.map { entry in
            guard now < entry.expires else {
                forget(entry.topic, named: entry.name)
                return .settle(name: entry.name, .expired)
            }
            handed[entry.name] = Handed(topic: entry.topic)
            return .send(entry)
        }
    }

    /// The outcome of a push is known. What was held until then is owed now; the end of a call that cannot have reached
    /// the device is settled.
    ///
    /// - Parameter mayHaveArrived: the push may have reached the device.
    /// - Returns: what is to be done at once.
    package mutating func settled(_ name: String, mayHaveArrived: Bool) -> [Action] {
        forget(handed.removeValue(forKey: name)?.topic, named: name)
        guard let next = held.removeValue(forKey: name) else { return [] }
        if case .callOver = next.subject, !mayHaveArrived { return [.settle(name: next.name, .needless)] }
        return owe(next)
    }

    /// Takes out a push that waits.
    private mutating func takeOut(_ name: String) {
        guard let place = places.removeValue(forKey: name) else { return }
        forget(waiting[place]?.topic, named: name)
        waiting[place] = nil
    }

    /// The push of this name is not owed any more.
    private mutating func forget(_ topic: Topic?, named name: String) {
        switch topic {
        case .call(let session, let device):
            guard calls[session]?[device] == name else { return }
            calls[session]?[device] = nil
            if calls[session]?.isEmpty == true { calls[session] = nil }
        case .replaceable(let key, let device):
            let topic = Topic.replaceable(key: key, device: device)
            if latest[topic] == name { latest[topic] = nil }
        case nil: break
        }
    }
}

extension PushOutbox.Entry {
    /// What later pushes find the push by; `nil`: none is about it.
    fileprivate var topic: PushOutbox<Content>.Topic? {
        switch subject {
        case .call(let session): .call(session: session, device: device)
        case .replaceable(let key): .replaceable(key: key, device: device)
        case .callOver, .other: nil
        }
    }
}
