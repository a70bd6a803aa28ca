import Foundation

/// Something of which every next step is known: calls, and clients that believe something of them.
package protocol Explorable: Sendable {
    associatedtype Step: Sendable

    /// Tells apart what is to be told apart.
    var key: String { get }
    /// Everything that can happen next.
    var steps: [Step] { get }
    /// Returns whether the step was taken; a refused one has changed nothing, nor has one that only asks for something.
    mutating func take(_ step: Step) throws -> Bool
    /// What always holds.
    func check() throws
}

/// Stands for a key, in a set of millions. Two of 10⁷ states are taken for one with a chance of less than 10⁻²⁴.
private struct StateDigest: Hashable {
    private let halves: SIMD2<Int>

    init(_ key: String) {
        var (first, second) = (Hasher(), Hasher())
        first.combine(key)
        second.combine(1)
        second.combine(key)
        halves = [first.finalize(), second.finalize()]
    }
}

/// Every state that can be reached, each visited once, the nearest first.
package struct Exploration: Sendable {
    /// With `ORBWEAVER_EXPLORE=deep` the walks go further, for minutes (scripts/nightly).
    package static let isDeep = ProcessInfo.processInfo.environment["ORBWEAVER_EXPLORE"] == "deep"

    /// The number of different states that were reached.
    package private(set) var states = 0
    /// The number of steps that were taken, also to states that were known.
    package private(set) var transitions = 0
    /// The most steps from a start to a state.
    package private(set) var depth = 0
    /// States whose next steps were not taken any more; 0: there is nothing else.
    package private(set) var open = 0

    /// - Parameter observe: is told of every step that was taken, with what was before and after it.
    package init<World: Explorable>(
        of start: [World], depth limit: Int = .max,
        observe: (_ before: World, World.Step, _ after: World) -> Void = { _, _, _ in }
    ) throws {
        var frontier: [World] = []
        var known: Set<StateDigest> = []
        for world in start where known.insert(StateDigest(world.key)).inserted { frontier.append(world) }
        while depth < limit, !frontier.isEmpty {
            depth += 1
            var next: [World] = []
            for world in frontier {
                for step in world.steps {
                    var walker = world
                    guard try walker.take(step) else { continue }
                    transitions += 1
                    observe(world, step, walker)
                    try walker.check()
                    if known.insert(StateDigest(walker.key)).inserted { next.append(walker) }
                }
            }
            frontier = next
        }
        (states, open) = (known.count, frontier.count)
    }
}

extension Exploration: CustomStringConvertible {
    /// The numbers, for the log.
    package var description: String {
        "\(states) states and \(transitions) transitions in \(depth) steps, \(open) states left open"
    }
}

/// What does not hold in a state, and the steps that lead there.
package struct ExplorationFault: Error, CustomStringConvertible {
    /// The fault and its steps.
    package let description: String

    /// - Parameter path: the steps from the start, in order.
    package init(_ fault: String, _ path: [some CustomStringConvertible]) {
        description = "\(fault), after: \(path.map(\.description).joined(separator: ", "))"
    }
}
