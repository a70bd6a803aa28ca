/// A queue into one owner: any thread sends, one thread drains, first in first out.
///
/// What asks for something has bounded room. What gives something back is always taken: it cannot come more often than there is
/// something to give, and would be missing for ever.
package final class Mailbox<Element: Sendable>: Sendable {
    private let capacity: Int
    private let wakeUp: WakeUp?
    private let waiting = Lock<[Element]>([])

    /// - Parameters:
    ///   - capacity: how many elements may wait; the next one that is offered is refused.
    ///   - wakeUp: woken when something arrives in the empty mailbox.
    package init(capacity: Int, wakeUp: WakeUp? = nil) {
        self.capacity = capacity
        self.wakeUp = wakeUp
    }

    /// Sends an element if there is room for it, and says whether there was.
    package func offer(_ element: Element) -> Bool { add(element, below: capacity) }

    /// Sends an element whether there is room or not.
    package func send(_ element: Element) { _ = add(element, below: .max) }

    /// How many elements wait.
    package var count: Int { waiting.withLock { $0.count } }

    private func add(_ element: Element, below limit: Int) -> Bool {
        let position = waiting.withLock { waiting -> Int? in
            guard waiting.count < limit else { return nil }
            waiting.append(element)
            return waiting.count
        }
        guard let position else { return false }
        if position == 1 { wakeUp?.wake() }
        return true
    }

    /// Moves everything to the end of `elements`.
    ///
    /// An empty array changes places with the mailbox's own, so that a worker which keeps one allocates nothing.
    package func drain(into elements: inout [Element]) {
        waiting.withLock { waiting in
            if elements.isEmpty {
                swap(&waiting, &elements)
            } else {
                elements.append(contentsOf: waiting)
                waiting.removeAll(keepingCapacity: true)
            }
        }
    }
}
