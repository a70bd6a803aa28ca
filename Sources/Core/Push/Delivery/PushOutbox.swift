/// The pushes that devices are owed, until a provider has taken them or they are of no use any more.
///
///     owed ──▶ waiting ──▶ handed over ──▶ settled
///                │ the call need not ring any more: the call and its end are settled, and nothing is sent
///                             └ the same: the call is withdrawn; its end is held until the call's outcome is known
///
/// A device is told of a call and of its end in this order, whatever the provider does. A call that cannot have reached
/// the device has no end. No call of an earlier process rings, so that only its end is sent.
package struct PushOutbox<Content: Sendable>: Sendable {
    /// What a push is about.
    package enum Subject: Hashable, Sendable {
        /// A call comes in; the name is that of the user's leg.
        case call(session: String)
        /// That call need not ring any more.
        case callOver(session: String)
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

    /// A call that rings at a device.
    fileprivate struct Ringing: Hashable {
        var session: String
        var device: String
    }

    /// A push that a provider was handed.
    private struct Handed {
        /// The call that it tells of; `nil`: it is no call.
        var ringing: Ringing?
    }

    /// The pushes that were not handed to a provider, in order; `nil`: one that was taken out.
    private var waiting: [Entry?] = []
    /// Where those are, by name.
    private var places: [String: Int] = [:]
    /// The pushes that a provider was handed, and whose outcome is not known, by name.
    private var handed: [String: Handed] = [:]
    /// The names of the calls among both, by session and device.
    private var calls: [String: [String: String]] = [:]
    /// The ends of calls that wait for the outcome, by the names of the calls.
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
        case .other: break
        }
        places[entry.name] = waiting.count
        waiting.append(entry)
        return []
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
                forget(entry.ringing, named: entry.name)
                return .settle(name: entry.name, .expired)
            }
            handed[entry.name] = Handed(ringing: entry.ringing)
            return .send(entry)
        }
    }

    /// The outcome of a push is known. The end of a call that was held is owed now, or settled.
    ///
    /// - Parameter mayHaveArrived: the push may have reached the device.
    /// - Returns: what is to be done at once.
    package mutating func settled(_ name: String, mayHaveArrived: Bool) -> [Action] {
        forget(handed.removeValue(forKey: name)?.ringing, named: name)
        guard let end = held.removeValue(forKey: name) else { return [] }
        return mayHaveArrived ? owe(end) : [.settle(name: end.name, .needless)]
    }

    /// Takes out a push that waits.
    private mutating func takeOut(_ name: String) {
        guard let place = places.removeValue(forKey: name) else { return }
        forget(waiting[place]?.ringing, named: name)
        waiting[place] = nil
    }

    /// The call of this name is not owed any more.
    private mutating func forget(_ ringing: Ringing?, named name: String) {
        guard let ringing, calls[ringing.session]?[ringing.device] == name else { return }
        calls[ringing.session]?[ringing.device] = nil
        if calls[ringing.session]?.isEmpty == true { calls[ringing.session] = nil }
    }
}

extension PushOutbox.Entry {
    /// The call that the push tells of; `nil`: it is no call.
    fileprivate var ringing: PushOutbox<Content>.Ringing? {
        guard case .call(let session) = subject else { return nil }
        return PushOutbox<Content>.Ringing(session: session, device: device)
    }
}
