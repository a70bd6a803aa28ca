/// Several queues, one per key, that are served in turn.
struct RoundRobin<Key: Hashable & Sendable, Element: Sendable>: Sendable {
    private var queues: [Key: FirstInFirstOut<Element>] = [:]
    /// Each key that has a queue, once. The key that is served next comes first.
    private var turns = FirstInFirstOut<Key>()
    private(set) var count = 0

    /// How many keys have elements that wait.
    var keyCount: Int { queues.count }

    func count(of key: Key) -> Int { queues[key]?.count ?? 0 }

    mutating func append(_ element: Element, for key: Key) {
        if queues[key] == nil { turns.append(key) }
        queues[key, default: FirstInFirstOut()].append(element)
        count += 1
    }

    /// Removes the first element of the key whose turn it is; `nil` if nothing waits.
    mutating func popFirst() -> Element? {
        guard let key = turns.popFirst() else { return nil }
        let element = queues[key]?.popFirst()
        if queues[key]?.count == 0 { queues[key] = nil } else { turns.append(key) }
        count -= 1
        return element
    }
}

/// A queue in an array. The room of removed elements is given back from time to time.
private struct FirstInFirstOut<Element: Sendable>: Sendable {
    private var elements: [Element?] = []
    private var head = 0

    var count: Int { elements.count - head }

    mutating func append(_ element: Element) { elements.append(element) }

    mutating func popFirst() -> Element? {
        guard head < elements.count else { return nil }
        let element = elements[head]
        elements[head] = nil
        head += 1
        if head >= 32, head * 2 >= elements.count {
            elements.removeFirst(head)
            head = 0
        }
        return element
    }
}
