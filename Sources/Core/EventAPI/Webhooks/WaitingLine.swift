/// Elements that wait, the oldest first. The first one leaves at the same cost however many are behind it.
struct WaitingLine<Element: Sendable>: Sendable {
    /// Those that are gone are `nil`, so that nothing of them is kept.
    private var elements: [Element?] = []
    /// The places at the start whose elements are gone.
    private var gone = 0

    /// Makes an empty line.
    init() {}

    /// Makes a line of one element.
    init(_ element: Element) { elements = [element] }

    var isEmpty: Bool { gone == elements.count }

    /// The oldest element; `nil`: none waits.
    var first: Element? { isEmpty ? nil : elements[gone] }

    mutating func append(_ element: Element) { elements.append(element) }

    /// Puts another element in the place of the first one. The line must not be empty.
    mutating func replaceFirst(with element: Element) { elements[gone] = element }

    /// Takes the oldest element out; `nil`: none waits.
    mutating func popFirst() -> Element? {
        guard !isEmpty else { return nil }
        let element = elements[gone]
        elements[gone] = nil
        gone += 1
        // The room of what is gone is given back once it is half of the array.
        if gone * 2 >= elements.count {
            elements.removeFirst(gone)
            gone = 0
        }
        return element
    }
}
