internal import Synchronization

/// A bounded queue into one owner: any thread sends, one thread drains, first in first out.
package final class Mailbox<Element: Sendable>: Sendable {
    private let capacity: Int
    private let wakeUp: WakeUp?
    private let waiting = Mutex<[Element]>([])

    /// - Parameters:
    ///   - capacity: how many elements may wait; the next one is refused.
    ///   - wakeUp: woken when something arrives in the empty mailbox.
    package init(capacity: Int, wakeUp: WakeUp? = nil) {
        self.capacity = capacity
        self.wakeUp = wakeUp
    }

    /// Whether there was room.
    package func send(_ element: Element) -> Bool {
        let position = waiting.withLock { waiting -> Int? in
            guard waiting.count < capacity else { return nil }
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
