/// The numbers of pushes that wait: first in, first out, those that are urgent before all others.
struct WaitingLine {
    private var urgent = NumberQueue()
    private var others = NumberQueue()

    var isEmpty: Bool { urgent.isEmpty && others.isEmpty }
    var count: Int { urgent.count + others.count }
    var numbers: [UInt64] { Array(urgent.numbers) + others.numbers }

    mutating func append(_ number: UInt64, isUrgent: Bool) {
        if isUrgent { urgent.append(number) } else { others.append(number) }
    }

    /// Puts a number in front of those that are as urgent.
    mutating func prepend(_ number: UInt64, isUrgent: Bool) {
        if isUrgent { urgent.prepend(number) } else { others.prepend(number) }
    }

    mutating func popFirst() -> UInt64? { urgent.popFirst() ?? others.popFirst() }

    /// Takes out the latest number that is not urgent.
    mutating func popLatestOther() -> UInt64? { others.popLast() }

    /// Removes all numbers, and returns those that meet a condition.
    mutating func removeAll(_ condition: (UInt64) -> Bool) -> [UInt64] {
        urgent.removeAll(condition) + others.removeAll(condition)
    }

    /// Keeps the numbers that meet a condition.
    mutating func keep(_ condition: (UInt64) -> Bool) {
        urgent.keep(condition)
        others.keep(condition)
    }
}

/// Numbers, first in first out, with some put in front.
private struct NumberQueue {
    private var items: [UInt64] = []
    private var taken = 0

    var isEmpty: Bool { taken == items.count }
    var numbers: ArraySlice<UInt64> { items[taken...] }

    mutating func append(_ number: UInt64) { items.append(number) }

    mutating func prepend(_ number: UInt64) {
        guard taken > 0 else {
            items.insert(number, at: 0)
            return
        }
        taken -= 1
        items[taken] = number
    }

    mutating func popFirst() -> UInt64? {
        guard taken < items.count else { return nil }
        defer {
            taken += 1
            // The room of what is gone is given back once it is half of the array.
            if taken * 2 >= items.count {
                items.removeFirst(taken)
                taken = 0
            }
        }
        return items[taken]
    }

    var count: Int { items.count - taken }

    mutating func popLast() -> UInt64? { taken < items.count ? items.removeLast() : nil }

    /// Removes all numbers, and returns those that meet a condition.
    mutating func removeAll(_ condition: (UInt64) -> Bool) -> [UInt64] {
        let kept = numbers.filter(condition)
        (items, taken) = ([], 0)
        return kept
    }

    /// Keeps the numbers that meet a condition.
    mutating func keep(_ condition: (UInt64) -> Bool) { (items, taken) = (numbers.filter(condition), 0) }
}
