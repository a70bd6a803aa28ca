import Primitives

/// All samples under one name, in the Prometheus text exposition format 0.0.4.
struct MetricFamily: Sendable {
    enum Kind: String {
        case counter
        case gauge
        case histogram
    }

    var name: String
    var help: String
    var kind: Kind
    var samples: @Sendable () -> [MetricSample]

    func write(to text: inout String) {
        text += "# HELP \(name) \(help.escaped(quotes: false))\n"
        text += "# TYPE \(name) \(kind.rawValue)\n"
        for sample in samples() {
            text += name + sample.suffix
            if !sample.labels.isEmpty {
                text +=
                    "{"
                    + sample.labels.map { "\($0.name)=\"\($0.value.escaped(quotes: true))\"" }.joined(separator: ",")
                    + "}"
            }
            text += " \(sample.value)\n"
        }
    }
}

/// One line of the exposition.
struct MetricSample: Equatable, Sendable {
    struct Label: Equatable, Sendable {
        var name: String
        var value: String
    }

    /// `_bucket`, `_sum` or `_count` for a histogram, otherwise empty.
    var suffix = ""
    var labels: [Label] = []
    var value: String
}

extension String {
    /// The text with backslashes and line feeds escaped, and in label values also double quotes.
    fileprivate func escaped(quotes: Bool) -> String {
        var result = ""
        for character in self {
            switch character {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"" where quotes: result += "\\\""
            default: result.append(character)
            }
        }
        return result
    }
}

extension Duration {
    /// Seconds as a decimal number without an exponent and without rounding: `0.05`, `12`. A negative duration is `0`.
    var secondsText: String {
        let nanoseconds = max(0, wholeNanoseconds)
        let (seconds, rest) = nanoseconds.quotientAndRemainder(dividingBy: 1_000_000_000)
        guard rest > 0 else { return String(seconds) }
        let digits = String(rest)
        var fraction = String(repeating: "0", count: 9 - digits.count) + digits
        while fraction.last == "0" { fraction.removeLast() }
        return "\(seconds).\(fraction)"
    }
}
