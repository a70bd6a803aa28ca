/// The pushes that devices are owed, until a provider has taken them or they are of no use any more.
///
/// A call that need not ring any more before its push was handed to the provider has woken nobody: neither it nor the
/// push that would end it is sent. Of a call that an earlier process may have handed over, only the end is sent, since
/// nobody knows whether the device rings.
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

    /// The pushes that were not handed to a provider, in order.
    private var waiting: [Entry] = []
    /// The pushes that a provider was handed, and whose outcome is not known.
    private var handed: Set<String> = []
    /// The calls among those that wait which an earlier process may have handed over.
    private var doubtful: Set<String> = []

    /// Makes an empty outbox.
    package init() {}

    /// How many pushes are owed.
    package var count: Int { waiting.count + handed.count }

    /// Takes over what an earlier process has owed, in the order in which it was decided.
    ///
    /// - Returns: what is to be done at once.
    package mutating func restore(_ entries: some Sequence<Entry>) -> [Action] {
        entries.flatMap { entry in
            if case .call = entry.subject { doubtful.insert(entry.name) }
            return owe(entry)
        }
    }

    /// A push is owed. One whose name is known already is not owed twice.
    ///
    /// - Returns: what is to be done at once.
    package mutating func owe(_ entry: Entry) -> [Action] {
        guard !handed.contains(entry.name), !waiting.contains(where: { $0.name == entry.name }) else { return [] }
        if case .callOver(let session) = entry.subject,
            let index = waiting.firstIndex(where: {
                $0.device == entry.device && $0.subject == .call(session: session)
            })
        {
            let call = waiting.remove(at: index).name
            guard doubtful.remove(call) == nil else {
                waiting.append(entry)
                return [.settle(name: call, .needless)]
            }
            return [.settle(name: call, .needless), .settle(name: entry.name, .needless)]
        }
        waiting.append(entry)
        return []
    }

    /// Everything that waits is handed over, in order.
    ///
    /// - Parameter now: milliseconds since 1970.
    package mutating func handOver(at now: UInt64) -> [Action] {
        defer {
            waiting = []
            doubtful = []
        }
        return waiting.map { entry in
            guard now < entry.expires else { return .settle(name: entry.name, .expired) }
            handed.insert(entry.name)
            return .send(entry)
        }
    }

    /// The outcome of a push is known.
    package mutating func settled(_ name: String) { handed.remove(name) }
}
