package import Primitives

/// Gathers the keys that the other legs of a call press.
///
///     prompting ── key ──▶ (stop the prompt) ──▶ collecting ── terminator, maximum, valid answer, time-out ──▶ ended
///         └────── the prompt has ended ──▶ waiting ── key ──▶ collecting
///                                             └────── time-out ──▶ ended
///
/// A valid answer with which a longer one starts ends the gathering only when no further key comes in time.
package struct Gather: Equatable, Sendable {
    /// What follows from an input, in order.
    package enum Action: Equatable, Sendable {
        /// The prompt is to stop.
        case stopPrompt
        /// The gathering has ended.
        case end(GatheredKeys)
    }

    private enum Stage: Equatable {
        /// The prompt plays, and no key has come.
        case prompting
        /// No key has come, and the first is waited for until then.
        case waiting(until: MonotonicTime)
        /// Keys have come, and the next is waited for until then.
        case collecting(until: MonotonicTime)
        /// It is over.
        case ended
    }

    /// What was asked for.
    package let request: GatherRequest
    /// The keys so far, without a terminator.
    package private(set) var keys: [Key] = []
    private var stage: Stage

    /// Starts to gather. With a prompt, the first key is waited for from the end of the prompt.
    package init(_ request: GatherRequest, at now: MonotonicTime) {
        self.request = request
        stage = request.prompt == nil ? .waiting(until: now + request.firstTimeout) : .prompting
    }

    /// When `timeout` has something to do; `nil`: never, as things stand.
    package var deadline: MonotonicTime? {
        switch stage {
        case .prompting, .ended: nil
        case .waiting(let time), .collecting(let time): time
        }
    }

    /// Whether it is over.
    package var isOver: Bool { stage == .ended }

    /// A key was pressed.
    package mutating func press(_ key: Key, at now: MonotonicTime) -> [Action] {
        let stopsPrompt: [Action]
        switch stage {
        case .ended: return []
        case .prompting: stopsPrompt = [.stopPrompt]
        case .waiting, .collecting: stopsPrompt = []
        }
        if request.terminators.contains(key) { return stopsPrompt + end(.terminator) }
        keys.append(key)
        if let valid = request.valid, valid.contains(keys), !valid.contains(where: continues) {
            return stopsPrompt + end(.valid)
        }
        if keys.count == request.maximum { return stopsPrompt + end(isValid ? .valid : .maximum) }
        stage = .collecting(until: now + request.betweenTimeout)
        return stopsPrompt
    }

    /// The prompt plays no more, whatever the reason.
    package mutating func promptEnded(at now: MonotonicTime) {
        if stage == .prompting { stage = .waiting(until: now + request.firstTimeout) }
    }

    /// A timer has fired. If the time of `deadline` has not come, nothing happens.
    package mutating func timeout(at now: MonotonicTime) -> [Action] {
        guard let deadline, deadline <= now else { return [] }
        return end(isValid ? .valid : .timeout)
    }

    /// The application wants no more keys.
    package mutating func stop() -> [Action] {
        switch stage {
        case .ended: []
        case .prompting: [.stopPrompt] + end(.stopped)
        case .waiting, .collecting: end(.stopped)
        }
    }

    /// What the end of the call makes of it; `nil`: it is over already.
    var cutOff: GatheredKeys? {
        isOver ? nil : GatheredKeys(keys: keys, outcome: .callEnded, tag: request.tag)
    }

    private var isValid: Bool { request.valid?.contains(keys) ?? false }

    /// Whether an answer starts with the keys so far, and has more.
    private func continues(_ answer: [Key]) -> Bool { answer.count > keys.count && answer.starts(with: keys) }

    private mutating func end(_ outcome: GatheredKeys.Outcome) -> [Action] {
        stage = .ended
        return [.end(GatheredKeys(keys: keys, outcome: outcome, tag: request.tag))]
    }
}
