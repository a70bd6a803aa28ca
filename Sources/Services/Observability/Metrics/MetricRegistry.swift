/// Makes metrics and keeps their names, help texts and order, so that every metric is also shown.
struct MetricRegistry {
    private(set) var families: [MetricFamily] = []

    mutating func counter(_ name: String, _ help: String) -> Counter {
        let counter = Counter()
        add(name, help, .counter) { [MetricSample(value: String(counter.value))] }
        return counter
    }

    mutating func counters<Label: MetricLabel>(_ name: String, _ help: String, by _: Label.Type) -> CounterFamily<Label>
    {
        let family = CounterFamily<Label>()
        add(name, help, .counter) {
            Label.allCases.map {
                MetricSample(
                    labels: [MetricSample.Label(name: Label.labelName, value: $0.rawValue)],
                    value: String(family[$0].value))
            }
        }
        return family
    }

    mutating func counters<Row: MetricLabel, Column: MetricLabel>(
        _ name: String, _ help: String, by _: Row.Type, and _: Column.Type
    ) -> CounterTable<Row, Column> {
        let table = CounterTable<Row, Column>()
        add(name, help, .counter) {
            Row.allCases.flatMap { row in
                Column.allCases.map { column in
                    MetricSample(
                        labels: [
                            MetricSample.Label(name: Row.labelName, value: row.rawValue),
                            MetricSample.Label(name: Column.labelName, value: column.rawValue),
                        ],
                        value: String(table[row, column].value))
                }
            }
        }
        return table
    }

    mutating func gauge(_ name: String, _ help: String) -> Gauge {
        let gauge = Gauge()
        add(name, help, .gauge) { [MetricSample(value: String(gauge.value))] }
        return gauge
    }

    mutating func histogram(_ name: String, _ help: String, bounds: [Duration]) -> Histogram {
        let histogram = Histogram(bounds: bounds)
        add(name, help, .histogram) {
            let counts = histogram.cumulativeCounts
            let total = counts.last ?? 0
            let bounds = histogram.bounds.map(\.secondsText) + ["+Inf"]
            let buckets = zip(bounds, counts).map { bound, count in
                MetricSample(
                    suffix: "_bucket", labels: [MetricSample.Label(name: "le", value: bound)], value: String(count))
            }
            return buckets + [
                MetricSample(suffix: "_sum", value: histogram.sum.secondsText),
                MetricSample(suffix: "_count", value: String(total)),
            ]
        }
        return histogram
    }

    /// Adds a gauge that never changes.
    mutating func constant(_ name: String, _ help: String, labels: [MetricSample.Label] = [], value: String) {
        add(name, help, .gauge) { [MetricSample(labels: labels, value: value)] }
    }

    private mutating func add(
        _ name: String, _ help: String, _ kind: MetricFamily.Kind, samples: @escaping @Sendable () -> [MetricSample]
    ) {
        precondition(!families.contains { $0.name == name }, "two metrics are called \(name)")
        families.append(MetricFamily(name: name, help: help, kind: kind, samples: samples))
    }
}
