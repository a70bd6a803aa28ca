/// A queue to one owner: any thread sends, one thread drains, first in first out.
///
/// Requests have bounded room. Messages that release something are always taken: there cannot be more of them than
/// there is to release, and a lost one would never be repeated.
package final class Mailbox<Element: Sendable>: Sendable {
    private let capacity: Int
    private let wakeUp: WakeUp?
    private let waiting = Lock<[Element]>([])

    /// Makes an empty mailbox.
    ///
    /// - Parameters:
    ///   - capacity: The most elements that wait; the next one that is offered is refused.
    ///   - wakeUp: Woken when an element arrives in the empty mailbox; `nil` if the owner needs no wake-up.
    package init(capacity: Int, wakeUp: WakeUp? = nil) {
        self.capacity = capacity
        self.wakeUp = wakeUp
    }

    /// Sends an element unless the mailbox is full; returns whether it was sent.
    package func offer(_ element: Element) -> Bool { add(element, below: capacity) }

    /// Sends an element even if the mailbox is full.
    package func send(_ element: Element) { _ = add(element, below: .max) }

    /// Sends an element even if the mailbox is full, and does not wake the owner: the sender does so afterwards, once
    /// for all elements that it has put in.
    package func put(_ element: Element) { waiting.withLock { $0.append(element) } }

    /// The number of elements that wait.
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

    /// Appends all elements to `elements`, and empties the mailbox.
    ///
    /// An empty array is exchanged with that of the mailbox, so that a worker which keeps one array allocates nothing.
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
