import CallControl
import CallRuntime
import EventAPI
import Primitives
import Registration
import Testing

/// What is published for programs that follow calls. Which of it is removed, and when, is the driver's
/// (`PublicEventLogTests`).
extension JournalConformance {
    private static func publication(_ sequence: Int) throws -> Publication {
        try #require(Publication(event(sequence, .held), of: [.user(alice)]))
    }

    /// The events behind a place, without waiting. They may come on several pages.
    private func published(after place: Int64, _ opened: Opened) async throws -> [PublicEvent] {
        var (place, events): (Int64, [PublicEvent]) = (place, [])
        while true {
            let page = try await opened.publicEvents.page(
                after: place, EventSelection(reader: .everything), limit: 100, waitingUntil: MonotonicTime.zero)
            guard page.through > place else { return events }
            events += page.events
            place = page.through
        }
    }

    func `a publication is read once it is durable, by this process and the next`() async throws {
        let publications = try (1...4).map { try Self.publication($0) }
        let first = try open()
        _ = try await first.contents()
        let (place, name) = (first.publicEvents.last, first.publicEvents.name)
        first.journal.append([.published(publications[0]), .published(publications[1])])
        first.journal.append(.published(publications[2]))
        try await first.journal.durable()
        let read = try await published(after: place, first)
        #expect(read.map(\.number).allSatisfy { $0 > place })
        #expect(read == zip(publications.prefix(3), read).map { $0.numbered($1.number) })
        #expect(read.count == 3 && zip(read, read.dropFirst()).allSatisfy { $0.number < $1.number })
        #expect(first.publicEvents.last == read.last?.number)
        try first.abandon()
        let second = try open()
        _ = try await second.contents()
        #expect(second.publicEvents.name == name, "the cursors of clients stay valid")
        #expect(try await published(after: place, second) == read)
        second.journal.append(.published(publications[3]))
        try await second.journal.durable()
        let later = try await published(after: place, second)
        #expect(later.count == 4 && Array(later.prefix(3)) == read)
        let last = try #require(later.last)
        #expect(last == publications[3].numbered(last.number) && last.number > (read.last?.number ?? last.number))
        try second.abandon()
    }

    func `a publication that is refused is read by nobody, and once it is taken in its place`() async throws {
        let publications = try (1...3).map { try Self.publication($0) }
        let opened = try open()
        _ = try await opened.contents()
        let place = opened.publicEvents.last
        try await opened.refuse(true)
        opened.journal.append([.published(publications[0]), .registration(.subscribed(Self.subscription()))])
        await #expect(throws: StorageError.self) { try await opened.journal.durable() }
        opened.journal.append(.published(publications[1]))
        #expect(try await published(after: place, opened).isEmpty)
        try await opened.refuse(false)
        while opened.journal.isFailing { try await Task.sleep(for: .milliseconds(10)) }
        opened.journal.append(.published(publications[2]))
        try await opened.journal.durable()
        let read = try await published(after: place, opened)
        #expect(read.count == 3 && read == zip(publications, read).map { $0.numbered($1.number) })
        try opened.abandon()
        let next = try open()
        _ = try await next.contents()
        #expect(try await published(after: place, next) == read)
        try next.abandon()
    }
}
