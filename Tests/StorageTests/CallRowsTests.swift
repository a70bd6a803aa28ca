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
}
