import Primitives

/// What becomes of an incoming call: the first decision wins.
extension ApplicationLeg {
    /// The end of the time to decide.
    struct Decision: Equatable {
        /// When the fallback happens.
        let deadline: MonotonicTime
        /// The same, in milliseconds since 1970.
        let time: Int64
    }

    /// Whether the application was asked about an incoming call, and may still decide.
    package var awaitsDecision: Bool { decideBy != nil }

    /// Until when it may, in milliseconds since 1970; `nil`: it may not.
    var decideBy: Int64? { isDecided ? nil : decision?.time }

    /// Why the command cannot be the decision about the call; `nil`: it can, if the call allows it.
    package func obstacle(toDecidingBy command: ApplicationCommand) -> ApplicationObstacle? {
        guard command.bridging == nil, ApplicationCallPhase.ringing.allows(command.name, .incoming) else {
            return .noDecision(command.name)
        }
        return awaitsDecision ? nil : .decided
    }
}
