internal import Foundation

/// A figure that was taken several times: once in each round.
///
/// What is told of it is the median and how far the rounds lie apart, never the round that flatters.
package struct Rounds: Equatable, Sendable {
    /// The figure of each round, in the order of the rounds.
    package private(set) var figures: [Double]

    /// Takes figures that there are already.
    package init(_ figures: [Double] = []) { self.figures = figures }

    /// Adds the figure of one more round.
    package mutating func add(_ figure: Double) { figures.append(figure) }

    /// How many rounds there are.
    package var count: Int { figures.count }
    /// Whether there is no round.
    package var isEmpty: Bool { figures.isEmpty }

    /// The middle one, or the mean of the two in the middle; not a number if there is none.
    package var median: Double {
        guard !figures.isEmpty else { return .nan }
        let sorted = figures.sorted()
        return (sorted[(sorted.count - 1) / 2] + sorted[sorted.count / 2]) / 2
    }

    /// The smallest one; not a number if there is none.
    package var least: Double { figures.min() ?? .nan }
    /// The largest one; not a number if there is none.
    package var most: Double { figures.max() ?? .nan }

    /// Each figure multiplied by `factor`, such as 0.001 for microseconds out of nanoseconds.
    package func scaled(by factor: Double) -> Rounds { Rounds(figures.map { $0 * factor }) }

    /// The ratio to another figure, round by round: what else the machine did in a round concerns both of its figures.
    /// Rounds that only one of them has are left out.
    package func ratios(to other: Rounds) -> Rounds {
        Rounds(zip(figures, other.figures).map { $0 / $1 })
    }

    /// The median, and in brackets the smallest and the largest: `644 µs (601 to 702)`; a dash if there is none.
    ///
    /// - Parameters:
    ///   - unit: What follows the median.
    ///   - digits: How many digits follow the decimal point.
    package func text(_ unit: String = "", digits: Int = 0) -> String {
        guard !isEmpty else { return "–" }
        let number = { (figure: Double) in String(format: "%.\(digits)f", figure) }
        return number(median) + (unit.isEmpty ? "" : " \(unit)") + " (\(number(least)) to \(number(most)))"
    }
}
