import CallControl
import Foundation

/// Something of which every next step is known: calls, and clients that believe something of them.
protocol Explorable: Sendable {
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

/// Every state that can be reached, each visited once, the nearest first.
struct Exploration {
    /// With `ORBWEAVER_EXPLORE=deep` the walks go further, for minutes (scripts/nightly).
    static let isDeep = ProcessInfo.processInfo.environment["ORBWEAVER_EXPLORE"] == "deep"

    private(set) var states = 0
    private(set) var transitions = 0
    private(set) var depth = 0
    /// States whose next steps were not taken any more; 0: there is nothing else.
    private(set) var open = 0

    /// - Parameter observe: is told of every step that was taken, with what was before and after it.
    init<World: Explorable>(
        of start: [World], depth limit: Int = .max,
        observe: (_ before: World, World.Step, _ after: World) -> Void = { _, _, _ in }
    ) throws {
        var frontier: [World] = []
        var known: Set<String> = []
        for world in start where known.insert(world.key).inserted { frontier.append(world) }
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
                    if known.insert(walker.key).inserted { next.append(walker) }
                }
            }
            frontier = next
        }
        (states, open) = (known.count, frontier.count)
    }
}

extension Exploration: CustomStringConvertible {
    var description: String {
        "\(states) states and \(transitions) transitions in \(depth) steps, \(open) states left open"
    }
}

struct ExplorationFault: Error, CustomStringConvertible {
    let description: String

    init(_ fault: String, _ path: [some CustomStringConvertible]) {
        description = "\(fault), after: \(path.map(\.description).joined(separator: ", "))"
    }
}

extension CallError {
    /// The request does not fit what the call is in; what explorers send is never wrong in itself.
    var isOfState: Bool {
        switch self {
        case .noSuchCall, .alreadyAnswered, .notAllowed, .pending: true
        case .unreachable, .malformedDescription, .unsupportedDescription, .unplayable, .keysWaiting, .notForGuests,
            .unsupported, .limitOfCalls,
            .limitOfLegs, .tooManyCalls, .draining:
            false
        }
    }
}
