/// What becomes of an incoming call: the first decision wins.
extension ApplicationLeg {
    /// Why the command cannot be the decision about the call, as a sentence; `nil`: it can, if the call allows it.
    package func obstacle(toDecidingBy command: ApplicationCommand) -> String? {
        guard command.bridging == nil, ApplicationCallPhase.ringing.allows(command.name, .incoming) else {
            return "\(command.name.rawValue) is no decision about a call that rings."
        }
        return awaitsDecision ? nil : "The call is decided, or the time to decide is over."
    }
}
