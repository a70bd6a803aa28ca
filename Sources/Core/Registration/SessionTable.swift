import CallControl

/// The user's legs of calls by `sessionData`.
struct SessionTable: Equatable, Sendable {
    private struct Entry: Equatable, Sendable {
        var number: UInt64
        var attachment: LegAddress
        /// The caller that makes the leg ring; `nil`: it does not ring, or not any more.
        var ringer: Ringer?
        /// The user talks on the leg, or has it on hold.
        var isEstablished = false
    }

    private var entries: [SessionID: Entry] = [:]
    private var lastNumber: UInt64 = 0
    /// The number of legs in each call. It is kept up to date, because every call that starts or ends asks for it, and
    /// a user may have a thousand legs.
    private var legCounts: [CallID: Int] = [:]
    /// The number of legs that ring; below it, by caller.
    private(set) var ringingCount = 0
    private var ringingCounts: [Ringer: Int] = [:]

    /// The number of legs that are established.
    private(set) var establishedCount = 0

    var isEmpty: Bool { entries.isEmpty }

    var count: Int { entries.count }

    subscript(session: SessionID) -> LegAddress? { entries[session]?.attachment }

    /// The number of legs that this caller makes ring.
    func ringingCount(by ringer: Ringer) -> Int { ringingCounts[ringer] ?? 0 }

    /// Adds a leg, or moves it to another call, where it stays established.
    mutating func insert(_ session: SessionID, _ attachment: LegAddress, ringingBy ringer: Ringer? = nil) {
        let wasEstablished = entries[session]?.isEstablished == true
        remove(session)
        lastNumber += 1
        entries[session] = Entry(number: lastNumber, attachment: attachment, ringer: ringer)
        if let ringer {
            ringingCount += 1
            ringingCounts[ringer, default: 0] += 1
        }
        legCounts[attachment.call, default: 0] += 1
        if wasEstablished { establish(session) }
    }

    /// A leg is established.
    mutating func establish(_ session: SessionID) {
        guard entries[session]?.isEstablished == false else { return }
        entries[session]?.isEstablished = true
        establishedCount += 1
    }

    /// A leg does not ring any more.
    mutating func silence(_ session: SessionID) {
        guard let ringer = entries[session]?.ringer, let count = ringingCounts[ringer] else { return }
        entries[session]?.ringer = nil
        ringingCount -= 1
        ringingCounts[ringer] = count > 1 ? count - 1 : nil
    }

    /// Removes a leg.
    mutating func remove(_ session: SessionID) {
        silence(session)
        guard let removed = entries.removeValue(forKey: session), let count = legCounts[removed.attachment.call] else {
            return
        }
        if removed.isEstablished { establishedCount -= 1 }
        legCounts[removed.attachment.call] = count > 1 ? count - 1 : nil
    }

    /// Whether the user has a leg of this call.
    func contains(_ call: CallID) -> Bool { legCounts[call] != nil }

    /// Whether the user has a leg of any other call.
    func contains(otherThan call: CallID) -> Bool { legCounts.count > (contains(call) ? 1 : 0) }

    /// In the order in which they were inserted.
    var attachments: [LegAddress] {
        entries.values.sorted { $0.number < $1.number }.map(\.attachment)
    }
}
