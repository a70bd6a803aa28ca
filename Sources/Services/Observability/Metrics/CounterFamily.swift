/// The values that a label may have. Since it is an enum, the number of time series stays bounded whatever a peer
/// sends.
package protocol MetricLabel: CaseIterable, Hashable, RawRepresentable<String>, Sendable {
    /// The label's name in the exposition, such as `reason`.
    static var labelName: String { get }
}

/// One counter for each value of a label. All of them exist from the start, so that a rate can be computed before the
/// first event.
package final class CounterFamily<Label: MetricLabel>: Sendable {
    private let counters: [Label: Counter]

    /// Makes a counter at zero for each value.
    package init() {
        counters = Dictionary(uniqueKeysWithValues: Label.allCases.map { ($0, Counter()) })
    }

    /// The counter of a value.
    package subscript(_ label: Label) -> Counter {
        guard let counter = counters[label] else {
            preconditionFailure("allCases of \(Label.self) leaves out \(label)")
        }
        return counter
    }
}

/// One counter for each pair of values of two labels. All of them exist from the start.
package final class CounterTable<Row: MetricLabel, Column: MetricLabel>: Sendable {
    private let rows: [Row: CounterFamily<Column>]

    /// Makes a counter at zero for each pair.
    package init() {
        rows = Dictionary(uniqueKeysWithValues: Row.allCases.map { ($0, CounterFamily<Column>()) })
    }

    /// The counter of a pair of values.
    package subscript(_ row: Row, _ column: Column) -> Counter {
        guard let family = rows[row] else {
            preconditionFailure("allCases of \(Row.self) leaves out \(row)")
        }
        return family[column]
    }
}
