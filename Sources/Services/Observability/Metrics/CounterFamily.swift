/// The values one label may take. Being an enum keeps the number of time series bounded whatever a peer sends.
package protocol MetricLabel: CaseIterable, Hashable, RawRepresentable<String>, Sendable {
    /// The label's name in the exposition, such as `reason`.
    static var labelName: String { get }
}

/// One counter per value of a label; all of them exist from the start, so that a rate can be taken before the first event.
package final class CounterFamily<Label: MetricLabel>: Sendable {
    private let counters: [Label: Counter]

    package init() {
        counters = Dictionary(uniqueKeysWithValues: Label.allCases.map { ($0, Counter()) })
    }

    package subscript(_ label: Label) -> Counter {
        guard let counter = counters[label] else {
            preconditionFailure("allCases of \(Label.self) leaves out \(label)")
        }
        return counter
    }
}
