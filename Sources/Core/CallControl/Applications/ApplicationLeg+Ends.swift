package import Primitives

/// What is told of a leg that its call does not have any more.
extension ApplicationLeg {
    /// A list of the leg is over, and the call that the leg was part of cannot tell it any more: the leg is over, about
    /// to be, or part of another call.
    package mutating func endedLate(_ list: PlayedList, at now: MonotonicTime) -> [Action] {
        view.version += 1
        let actions = ended(list, at: now)
        return isOver ? [] : actions
    }
}
