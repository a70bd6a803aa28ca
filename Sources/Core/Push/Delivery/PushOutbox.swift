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
    private struct Ringing: Hashable {
        var device: String
        var session: String
    }

    /// The pushes that were not handed to a provider, in order.
    private var waiting: [Entry] = []
    /// The names of those.
    private var names: Set<String> = []
    /// The pushes that a provider was handed, and whose outcome is not known.
    private var handed: Set<String> = []
    /// The calls among those, by what rings.
    private var calls: [Ringing: String] = [:]
    /// The ends of those calls that wait for the outcome, by the names of the calls.
    private var held: [String: Entry] = [:]

    /// Makes an empty outbox.
    package init() {}

    /// How many pushes are owed.
    package var count: Int { waiting.count + handed.count + held.count }

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
        guard !handed.contains(entry.name), !names.contains(entry.name) else { return [] }
        if case .callOver(let session) = entry.subject {
            let ringing = Ringing(device: entry.device, session: session)
            if let call = calls[ringing] {
                guard held[call] == nil else { return [.settle(name: entry.name, .needless)] }
                held[call] = entry
                return [.withdraw(name: call)]
            }
            if let call = removeWaiting(ringing) {
                return [.settle(name: call, .needless), .settle(name: entry.name, .needless)]
            }
        }
        waiting.append(entry)
        names.insert(entry.name)
        return []
    }

    /// A device need not be woken for a call any more, and is told nothing of that.
    ///
    /// - Parameter device: the device; `nil`: all that the call may wake.
    /// - Returns: what is to be done at once.
    package mutating func withdraw(call session: String, from device: String?) -> [Action] {
        let ringing = calls.keys.filter { $0.session == session && (device == nil || $0.device == device) }
        let waits = waiting.compactMap { entry -> Ringing? in
            guard entry.subject == .call(session: session), device == nil || entry.device == device else { return nil }
            return Ringing(device: entry.device, session: session)
        }
        return ringing.compactMap { calls[$0] }.sorted().map { .withdraw(name: $0) }
            + waits.compactMap { removeWaiting($0) }.map { .settle(name: $0, .needless) }
    }

    /// Everything that waits is handed over, in order.
    ///
    /// - Parameter now: milliseconds since 1970.
    package mutating func handOver(at now: UInt64) -> [Action] {
        defer {
            waiting = []
            names = []
        }
        return waiting.map { entry in
            guard now < entry.expires else { return .settle(name: entry.name, .expired) }
            handed.insert(entry.name)
            if case .call(let session) = entry.subject {
                calls[Ringing(device: entry.device, session: session)] = entry.name
            }
            return .send(entry)
        }
    }

    /// The outcome of a push is known. The end of a call that was held is owed now, or settled.
    ///
    /// - Parameter mayHaveArrived: the push may have reached the device.
    /// - Returns: what is to be done at once.
    package mutating func settled(_ name: String, mayHaveArrived: Bool) -> [Action] {
        handed.remove(name)
        if let ringing = calls.first(where: { $0.value == name })?.key { calls[ringing] = nil }
        guard let end = held.removeValue(forKey: name) else { return [] }
        return mayHaveArrived ? owe(end) : [.settle(name: end.name, .needless)]
    }

    /// Takes out the call that waits for this device.
    private mutating func removeWaiting(_ ringing: Ringing) -> String? {
        guard
            let index = waiting.firstIndex(where: {
                $0.device == ringing.device && $0.subject == .call(session: ringing.session)
            })
        else { return nil }
        let name = waiting.remove(at: index).name
        names.remove(name)
        return name
    }
}
