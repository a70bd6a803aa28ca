/// The user's legs of calls by `sessionData`.
struct SessionTable: Equatable, Sendable {
    private struct Entry: Equatable, Sendable {
        var number: UInt64
        var attachment: Registration.Attachment
    }

    private var entries: [SessionID: Entry] = [:]
    private var lastNumber: UInt64 = 0

    var isEmpty: Bool { entries.isEmpty }

    var count: Int { entries.count }

    subscript(session: SessionID) -> Registration.Attachment? { entries[session]?.attachment }

    mutating func insert(_ session: SessionID, _ attachment: Registration.Attachment) {
        lastNumber += 1
        entries[session] = Entry(number: lastNumber, attachment: attachment)
    }

    mutating func remove(_ session: SessionID) { entries[session] = nil }

    /// In the order they were inserted.
    var attachments: [Registration.Attachment] {
        entries.values.sorted { $0.number < $1.number }.map(\.attachment)
    }
}
