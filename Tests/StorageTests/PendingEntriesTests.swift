import CallControl
import CallRuntime
import Registration
import Testing

@testable import Storage

@Suite struct PendingEntriesTests {
    private static func entry(_ number: Int) -> JournalEntry {
        .registration(.unsubscribed(SubscriptionID("s\(number)")))
    }

    private func filled(_ groups: Int, of size: Int = 2) -> PendingEntries {
        var entries = PendingEntries()
        for group in 0..<groups { entries.append((0..<size).map { Self.entry(group * size + $0) }) }
        return entries
    }

    private func taken(_ entries: inout PendingEntries) -> [[JournalEntry]] { entries.take() }

    @Test func `everything is taken at once, in order`() {
        var entries = filled(5)
        #expect(entries.count == 10)
        #expect(taken(&entries).flatMap(\.self) == (0..<10).map(Self.entry))
        #expect(entries.isEmpty)
    }

    @Test func `what does not fit is halved, down to what belongs together`() {
        var entries = filled(5)
        var sizes: [Int] = []
        repeat {
            let groups = entries.take()
            sizes.append(groups.count)
            guard entries.putBack(groups, lacksRoom: true) else { break }
        } while true
        #expect(sizes == [5, 2, 1])
        #expect(entries.count == 10)
        #expect(taken(&entries) == [[Self.entry(0), Self.entry(1)]], "nothing is split that belongs together")
    }

    @Test func `once something fits, more is tried again`() {
        var entries = filled(40)
        _ = entries.putBack(entries.take(), lacksRoom: true)
        #expect(taken(&entries).count == 20)
        entries.wasWritten()
        #expect(taken(&entries).count == 20)
        #expect(entries.isEmpty)
        entries = filled(3)
        _ = entries.putBack(entries.take(), lacksRoom: true)
        for _ in 0..<100 { entries.wasWritten() }
        #expect(taken(&entries).count == 3)
    }

    @Test func `another failure is not met by less`() {
        var entries = filled(5)
        let groups = entries.take()
        entries.append([Self.entry(99)])
        let isTriedAtOnce = entries.putBack(groups, lacksRoom: false)
        #expect(!isTriedAtOnce)
        #expect(taken(&entries).flatMap(\.self) == (0..<10).map(Self.entry) + [Self.entry(99)])
    }

    @Test func `what is added while it is held is one group`() {
        var entries = PendingEntries()
        entries.startJoining()
        entries.append([Self.entry(0)])
        entries.append([])
        entries.append([Self.entry(1), Self.entry(2)])
        #expect(entries.isHeld)
        entries.stopJoining()
        entries.append([Self.entry(3)])
        #expect(taken(&entries).map(\.count) == [3, 1])
    }
}
