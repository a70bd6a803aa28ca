import CallControl
import Testing

@testable import Storage

@Suite struct CallRowsTests {
    @Test func `ended calls take no more room than they may`() {
        var rows = CallRows()
        for call in 1...10 as ClosedRange<Int64> {
            rows.note(
                (1...3).map { event in
                    CallRows.Written(
                        row: call * 10 + Int64(event), run: CallRows.Run(call: CallID(UInt64(call)), startedAt: 0),
                        bytes: 100,
                        time: call, isLast: event == 3 && call > 1)
                })
        }
        #expect(rows.old(before: 0, above: 2_700, sparing: .max, limit: 100).isEmpty)
        #expect(
            rows.old(before: 0, above: 2_000, sparing: .max, limit: 100).map(\.numbers) == [
                [21, 22, 23], [31, 32, 33], [41, 42, 43],
            ])
        #expect(rows.old(before: 0, above: 0, sparing: .max, limit: 4).count == 2)
        #expect(rows.old(before: 4, above: .max, sparing: .max, limit: 100).map(\.lastTime) == [2, 3])
        #expect(rows.old(before: 0, above: 2_000, sparing: 3, limit: 100).map(\.lastTime) == [2])
        rows.removeOldest(2)
        #expect(rows.old(before: 0, above: 2_000, sparing: .max, limit: 100).map(\.numbers) == [[41, 42, 43]])
    }

    @Test func `rows that a call lost while it went on are not counted when it has ended`() {
        var rows = CallRows()
        let run = CallRows.Run(call: CallID(1), startedAt: 0)
        func note(_ range: ClosedRange<Int64>, isLast: Bool = false) {
            rows.note(
                range.map {
                    CallRows.Written(row: $0, run: run, bytes: 100, time: $0, isLast: isLast, isOmissible: !isLast)
                })
        }
        note(1...10)
        let surplus = rows.surplus(above: 6, before: .max)
        #expect(surplus == [run: Array(1...7)])
        #expect(rows.remove(surplus) == [run])
        note(11...17)
        let later = rows.surplus(above: 6, before: .max)
        #expect(rows.remove(later).isEmpty, "it is said once for each call")
        note(18...18, isLast: true)
        // Of 18 rows 10 + 7 were written before, of which 7 + 7 are gone.
        let left = 18 - surplus.values.joined().count - later.values.joined().count
        #expect(rows.old(before: .max, above: .max, sparing: .max, limit: 100).map(\.bytes) == [left * 100])
        #expect(rows.old(before: 0, above: left * 100, sparing: .max, limit: 100).isEmpty)
        #expect(rows.remove(surplus).isEmpty, "it has ended")
    }
}
