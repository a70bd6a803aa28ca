package import CallControl

/// What `orbweaver call` does in a call, and what it waits for. It decides from what the gateway shows of the call.
///
///     ringing → playing → pressing → waiting
package struct CallTrial: Equatable, Sendable {
    /// What has to happen.
    package enum Expectation: Equatable, Sendable {
        /// The callee answers, and the call goes on until everything is played to its end, and pressed.
        case answered
        /// The callee presses these keys, and no others before them.
        case keys(String)
        /// The call ends for this reason, a word of docs/call-states.md.
        case ending(String)
    }

    /// Why a text names no expectation.
    package struct Refusal: Error, Equatable, CustomStringConvertible {
        /// One line for people.
        package var description: String
    }

    /// What the gateway shows of the call.
    package struct Sight: Equatable, Sendable {
        /// The state, as the gateway names it.
        package var state: String
        /// The callee has answered.
        package var isAnswered: Bool
        /// How what was played has ended; `nil`: nothing has ended.
        package var played: Played?
        /// The keys that were gathered so far; `nil`: none are gathered.
        package var keys: String?
        /// Why the call is over; `nil`: it is not.
        package var ending: String?

        /// Makes what is shown of its parts.
        package init(
            state: String, isAnswered: Bool = false, played: Played? = nil, keys: String? = nil, ending: String? = nil
        ) {
            self.state = state
            self.isAnswered = isAnswered
            self.played = played
            self.keys = keys
            self.ending = ending
        }
    }

    /// How what was played has ended.
    package struct Played: Equatable, Sendable {
        /// Why it plays no more.
        package var outcome: PlayedList.Outcome
        /// How much of it the callee could hear, in milliseconds.
        package var heard: Int64

        /// Makes a value of its parts; each parameter is the property of that name.
        package init(outcome: PlayedList.Outcome, heard: Int64) {
            self.outcome = outcome
            self.heard = heard
        }
    }

    /// What is done next.
    package enum Step: Equatable, Sendable {
        /// The call is looked at again.
        case wait
        /// Files are played.
        case play([String])
        /// Keys are gathered, while files are played until the first key.
        case gather(prompt: [String])
        /// Keys are sent to the callee.
        case press(String)
        /// It is over.
        case finish(Verdict)
    }

    /// Whether what was expected has happened.
    package enum Verdict: Equatable, Sendable {
        /// It has.
        case met
        /// It has not; why, in a line for people.
        case missed(String)
    }

    private enum Stage: Equatable {
        case ringing
        case playing
        /// Keys are on their way until so long after the start.
        case pressing(until: Duration)
        case waiting
    }

    private let files: [String]
    private let keys: String
    private let expectation: Expectation
    private var stage = Stage.ringing
    /// How much the callee could hear of the files, in milliseconds; `nil`: they were not played to their end, or they
    /// are the prompt, which the first key stops.
    package private(set) var heard: Int64?

    /// Makes a trial.
    ///
    /// - Parameters:
    ///   - files: what is played once the callee has answered.
    ///   - keys: what is pressed after it.
    package init(files: [String], keys: String, expectation: Expectation) {
        self.files = files
        self.keys = keys
        self.expectation = expectation
    }

    /// What is done next in a call that is shown so.
    ///
    /// - Parameter elapsed: the time since the call was placed.
    package mutating func step(_ sight: Sight, after elapsed: Duration) -> Step {
        if let played = sight.played, played.outcome != .callEnded, !files.isEmpty {
            if let fault = fault(of: played) { return .finish(.missed(fault)) }
            if !hasPrompt { heard = played.heard }
        }
        if let ending = sight.ending { return .finish(verdict(ending, sight)) }
        switch stage {
        case .ringing:
            guard sight.isAnswered else { return .wait }
            if hasPrompt {
                stage = .playing
                return .gather(prompt: files)
            }
            guard !files.isEmpty else { return press(sight, elapsed) }
            stage = .playing
            return .play(files)
        case .playing:
            // The callee may press keys while the prompt plays, and so may this side.
            return hasPrompt || heard != nil ? press(sight, elapsed) : .wait
        case .pressing(let end):
            guard elapsed >= end else { return .wait }
            stage = .waiting
            return judged(sight)
        case .waiting: return judged(sight)
        }
    }

    /// Whether the files are the prompt of a gathering, which the first key stops.
    private var hasPrompt: Bool { if case .keys = expectation { true } else { false } }

    private mutating func press(_ sight: Sight, _ elapsed: Duration) -> Step {
        guard !keys.isEmpty else {
            stage = .waiting
            return judged(sight)
        }
        stage = .pressing(until: elapsed + Self.time(of: keys))
        return .press(keys)
    }

    private func judged(_ sight: Sight) -> Step {
        switch expectation {
        case .answered: return .finish(.met)
        case .ending: return .wait
        case .keys(let wanted):
            let pressed = sight.keys ?? ""
            if pressed == wanted { return .finish(.met) }
            return wanted.hasPrefix(pressed) ? .wait : .finish(.missed("the callee pressed \(pressed)"))
        }
    }

    /// Why the files were not heard as they should be; `nil`: they were. A prompt need not be heard to its end.
    private func fault(of played: Played) -> String? {
        let names = files.joined(separator: ", ")
        let heard = played.heard > 0 ? "\(played.heard) ms were heard" : "nothing was heard"
        switch played.outcome {
        case .callEnded: return nil  // the end of the call says it
        case .failed: return "\(names) could not be played: \(heard)"
        case .completed: return hasPrompt || played.heard > 0 ? nil : "\(names) was played, but \(heard)"
        case .stopped: return hasPrompt ? nil : "another command stopped \(names): \(heard)"
        case .replaced: return hasPrompt ? nil : "another command played something in place of \(names): \(heard)"
        }
    }

    private func verdict(_ ending: String, _ sight: Sight) -> Verdict {
        if sight.isAnswered, !files.isEmpty, !hasPrompt, heard == nil {
            return .missed("the call is over: \(ending), before \(files.joined(separator: ", ")) was heard to its end")
        }
        if expectation == .ending(ending) { return .met }
        return .missed("the call is over: \(ending)" + (sight.isAnswered ? "" : ", it was not answered"))
    }

    /// How long keys take with the lengths that the gateway gives them by default, after the silence before them.
    private static func time(of keys: String) -> Duration {
        keys.reduce(.milliseconds(100)) { $0 + ($1 == "," ? .seconds(2) : .milliseconds(170)) }
    }
}

extension CallTrial.Expectation {
    /// Names for people, of the reasons that are asked for most.
    private static let names: KeyValuePairs<String, EndingWord> = [
        "ended": .normalClearing, "busy": .userBusy, "rejected": .callRejected, "unanswered": .noAnswer,
        "unreachable": .subscriberAbsent, "unknown": .unallocatedNumber,
    ]

    /// Reads `answered`, `keys:` with keys, a name for people, or a word of docs/call-states.md.
    ///
    /// - Throws: ``CallTrial/Refusal`` if it is none of them.
    package init(parsing text: String) throws(CallTrial.Refusal) {
        if text == "answered" {
            self = .answered
        } else if text.hasPrefix("keys:") {
            let keys = text.dropFirst("keys:".count).uppercased()
            guard (1...64).contains(keys.count), keys.allSatisfy("0123456789ABCD*#".contains) else {
                throw CallTrial.Refusal(description: "keys: is followed by 1 to 64 of 0-9, A-D, * and #")
            }
            self = .keys(keys)
        } else if let word = Self.names.first(where: { $0.key == text })?.value ?? EndingWord(rawValue: text) {
            self = .ending(word.rawValue)
        } else {
            let names = Self.names.map(\.key).joined(separator: ", ")
            throw CallTrial.Refusal(
                description: "\(text) is not answered, keys:DIGITS, \(names), or a word of docs/call-states.md")
        }
    }

    /// In words for people.
    package var text: String {
        switch self {
        case .answered: "an answer"
        case .keys(let keys): "the keys \(keys)"
        case .ending(let word): "the end \(word)"
        }
    }
}
