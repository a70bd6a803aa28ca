import CallControl
import CallRuntime

/// Which rows of the table `callEvent` the events of each call have, so that none has to be searched for when the call
/// has been over for long enough.
struct CallRows: Sendable {
    /// A run of a call: calls of two processes may have the same identifier.
    struct Run: Hashable, Sendable {
        let call: CallID
        let startedAt: Int64
    }

    /// A row that was written.
    struct Written: Sendable {
        let row: Int64
        let run: Run
        let bytes: Int
        /// When it was written, milliseconds on the monotonic clock.
        let time: Int64
        /// It is the last event of its call.
        let isLast: Bool
        /// The next process can do without it, if nobody is about to be told it.
        var isOmissible = false
    }

    /// The rows of a call.
    struct Rows: Sendable {
        var numbers: [Int64] = []
        var bytes = 0
        /// When the last one was written, milliseconds on the monotonic clock.
        var lastTime: Int64 = 0
        /// Those that the next process can do without, the oldest first, when they were written, and their bytes.
        var omissible: [(number: Int64, time: Int64, bytes: Int)] = []
        /// Some of its rows were removed while it went on.
        var isCut = false
    }

    /// The calls that have not ended.
    private var open: [Run: Rows] = [:]
    /// The calls that have ended, the oldest first.
    private var ended: [Rows] = []
    private var endedBytes = 0

    /// Notes rows that were committed.
    mutating func note(_ events: [Written]) {
        for event in events {
            open[event.run, default: Rows()].numbers.append(event.row)
            open[event.run]?.bytes += event.bytes
            open[event.run]?.lastTime = event.time
            if event.isOmissible { open[event.run]?.omissible.append((event.row, event.time, event.bytes)) }
            guard event.isLast, var rows = open.removeValue(forKey: event.run) else { continue }
            rows.omissible = []
            ended.append(rows)
            endedBytes += rows.bytes
        }
    }

    /// The oldest calls that have to go.
    ///
    /// - Parameters:
    ///   - time: calls whose last event was written before this have to, milliseconds on the monotonic clock.
    ///   - bytes: how many bytes all calls that have ended may have together.
    ///   - younger: no call has to go of which an event was written since then.
    ///   - limit: about how many rows are given at a time.
    func old(before time: Int64, above bytes: Int, sparing younger: Int64, limit: Int) -> [Rows] {
        var (count, surplus) = (0, endedBytes - bytes)
        return Array(
            ended.prefix { rows in
                guard count < limit, rows.lastTime < time || surplus > 0 && rows.lastTime < younger else {
                    return false
                }
                count += rows.numbers.count
                surplus -= rows.bytes
                return true
            })
    }

    /// What has to go of the calls that have not ended, so that each keeps half of the rows that it may have. The last
    /// row of a call stays.
    ///
    /// - Parameters:
    ///   - limit: how many rows such a call may have.
    ///   - time: only rows that were written before this go, milliseconds on the monotonic clock.
    func surplus(above limit: Int, before time: Int64) -> [Run: [Int64]] {
        open.filter { $0.value.numbers.count > limit }.compactMapValues { rows in
            let old = rows.omissible.prefix { $0.time < time }.map(\.number).filter { $0 != rows.numbers.last }
            return old.isEmpty ? nil : Array(old.prefix(rows.numbers.count - limit / 2))
        }
    }

    /// Rows of calls that have not ended are gone.
    ///
    /// - Returns: the calls that had lost none before.
    mutating func remove(_ surplus: [Run: [Int64]]) -> [Run] {
        var cut: [Run] = []
        for (run, numbers) in surplus {
            // The call may have ended meanwhile.
            guard var rows = open[run] else { continue }
            let gone = Set(numbers)
            rows.bytes -= rows.omissible.reduce(0) { gone.contains($1.number) ? $0 + $1.bytes : $0 }
            rows.numbers.removeAll(where: gone.contains)
            rows.omissible.removeAll { gone.contains($0.number) }
            if !rows.isCut { cut.append(run) }
            rows.isCut = true
            open[run] = rows
        }
        return cut
    }

    /// The rows of so many of the oldest calls are gone.
    mutating func removeOldest(_ count: Int) {
        endedBytes -= ended.prefix(count).reduce(0) { $0 + $1.bytes }
        ended.removeFirst(count)
    }
}
