/// The deadlines of many state machines with one owner: at most one per machine, the earliest first.
///
/// It is a binary heap with lazy removal. A deadline that is moved or cancelled leaves a stale entry behind, which is
/// skipped when it comes to the top. Setting a deadline costs O(log n). An owner with 1,000 calls has a few thousand
/// entries.
///
/// Machines are identified by a number. The queue is asked in every round of its owner's loop, and generic code that is
/// not specialised would allocate there.
package struct DeadlineQueue: Sendable {
    private struct Entry {
        var time: MonotonicTime
        var id: UInt64
    }

    private var heap: [Entry] = []
    private var current: [UInt64: MonotonicTime] = [:]

    /// Makes an empty queue.
    package init() {}

    /// Sets or moves the deadline of `id`; `nil` cancels it.
    package mutating func set(_ time: MonotonicTime?, for id: UInt64) {
        guard current[id] != time else { return }
        current[id] = time
        if let time { push(Entry(time: time, id: id)) }
    }

    /// When the owner must wake up; `nil` if there is no deadline.
    package var earliest: MonotonicTime? {
        mutating get {
            discardStale()
            return heap.first?.time
        }
    }

    /// Removes and returns a machine whose deadline has come; `nil` if there is none.
    package mutating func popDue(at now: MonotonicTime) -> UInt64? {
        discardStale()
        guard let first = heap.first, first.time <= now else { return nil }
        pop()
        current[first.id] = nil
        return first.id
    }

    /// Gives back the room of deadlines that were moved or cancelled, if it is more than that of the others. They leave
    /// by themselves when their time comes, so that only an owner whose deadlines are far away has to call it.
    package mutating func discardMoved() {
        guard heap.count > 2 * current.count + 64 else { return }
        heap = current.map { Entry(time: $0.value, id: $0.key) }
        // What is sorted is a heap. Deadlines at the same time are in an order of their own, whatever the dictionary's.
        heap.sort { $0.time < $1.time || $0.time == $1.time && $0.id < $1.id }
    }

    private mutating func discardStale() {
        while let first = heap.first, current[first.id] != first.time { pop() }
    }

    private mutating func push(_ entry: Entry) {
        heap.append(entry)
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].time < heap[parent].time else { break }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    private mutating func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var parent = 0
        while true {
            var least = parent
            let (left, right) = (2 * parent + 1, 2 * parent + 2)
            if left < heap.count, heap[left].time < heap[least].time { least = left }
            if right < heap.count, heap[right].time < heap[least].time { least = right }
            guard least != parent else { return }
            heap.swapAt(parent, least)
            parent = least
        }
    }
}
