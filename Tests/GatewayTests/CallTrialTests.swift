import CallControl
import Gateway
import Testing

@Suite struct CallTrialTests {
    private typealias Sight = CallTrial.Sight

    private let ringing = Sight(state: "ringing")
    private let talking = Sight(state: "talking", isAnswered: true)

    private func played(_ outcome: PlayedList.Outcome, _ heard: Int64, keys: String? = nil) -> Sight {
        Sight(
            state: "talking", isAnswered: true, played: CallTrial.Played(outcome: outcome, heard: heard), keys: keys)
    }

    private func gathering(_ keys: String) -> Sight { Sight(state: "talking", isAnswered: true, keys: keys) }

    private func ended(_ cause: String, isAnswered: Bool = false) -> Sight {
        Sight(state: "ended", isAnswered: isAnswered, ending: cause)
    }

    /// What is done at each sight, one every second.
    private func steps(
        _ expectation: CallTrial.Expectation, files: [String] = [], keys: String = "", _ sights: [Sight]
    ) -> [CallTrial.Step] {
        var trial = CallTrial(files: files, keys: keys, expectation: expectation)
        return sights.enumerated().map { second, sight in trial.step(sight, after: .seconds(second)) }
    }

    @Test func `an answer is enough where nothing is played`() {
        #expect(steps(.answered, [ringing, ringing, talking]) == [.wait, .wait, .finish(.met)])
    }

    @Test func `everything is played, then pressed, one after the other`() {
        // Two keys and a pause take 2.44 seconds.
        #expect(
            steps(
                .answered, files: ["a.wav", "b.wav"], keys: "1,2",
                [ringing, talking, talking, talking] + Array(repeating: played(.completed, 3_000), count: 4))
                == [.wait, .play(["a.wav", "b.wav"]), .wait, .wait, .press("1,2"), .wait, .wait, .finish(.met)])
    }

    @Test func `how much was heard is known once everything is played`() {
        var trial = CallTrial(files: ["a.wav"], keys: "", expectation: .answered)
        _ = trial.step(talking, after: .zero)
        _ = trial.step(talking, after: .seconds(1))
        #expect(trial.heard == nil)
        #expect(trial.step(played(.completed, 3_000), after: .seconds(2)) == .finish(.met))
        #expect(trial.heard == 3_000)
    }

    @Test(
        arguments: [
            (.failed, 0, "a.wav, b.wav could not be played: nothing was heard"),
            (.failed, 40, "a.wav, b.wav could not be played: 40 ms were heard"),
            (.completed, 0, "a.wav, b.wav was played, but nothing was heard"),
            (.stopped, 40, "another command stopped a.wav, b.wav: 40 ms were heard"),
            (.replaced, 0, "another command played something in place of a.wav, b.wav: nothing was heard"),
        ] as [(PlayedList.Outcome, Int64, String)])
    func `what is not heard to its end is a failure, whatever else is expected`(
        _ outcome: PlayedList.Outcome, _ heard: Int64, _ fault: String
    ) {
        for expectation in [CallTrial.Expectation.answered, .ending("normal_clearing")] {
            #expect(
                steps(expectation, files: ["a.wav", "b.wav"], keys: "1", [talking, talking, played(outcome, heard)])
                    == [.play(["a.wav", "b.wav"]), .wait, .finish(.missed(fault))])
        }
    }

    @Test func `a prompt may be stopped, but has to be played`() {
        #expect(
            steps(
                .keys("12"), files: ["menu.wav"], [talking, played(.stopped, 40, keys: "1"), gathering("12")])
                == [.gather(prompt: ["menu.wav"]), .wait, .finish(.met)])
        let fault = "menu.wav could not be played: nothing was heard"
        #expect(
            steps(.keys("12"), files: ["menu.wav"], [talking, played(.failed, 0, keys: "")])
                == [.gather(prompt: ["menu.wav"]), .finish(.missed(fault))])
    }

    @Test func `what others play is none of its business where it plays nothing`() {
        #expect(steps(.answered, [ringing, played(.failed, 0)]) == [.wait, .finish(.met)])
    }

    @Test func `a call that ends before everything is played was not what was expected`() {
        let missed = CallTrial.Step.finish(
            .missed("the call is over: normal_clearing, before a.wav was heard to its end"))
        for expectation in [CallTrial.Expectation.answered, .ending("normal_clearing")] {
            #expect(
                steps(expectation, files: ["a.wav"], [talking, talking, ended("normal_clearing", isAnswered: true)])
                    == [.play(["a.wav"]), .wait, missed])
            var cutOff = ended("normal_clearing", isAnswered: true)
            cutOff.played = CallTrial.Played(outcome: .callEnded, heard: 40)
            #expect(
                steps(expectation, files: ["a.wav"], [talking, played(.callEnded, 40), cutOff])
                    == [.play(["a.wav"]), .wait, missed])
        }
        #expect(
            steps(.ending("user_busy"), files: ["a.wav"], [ringing, ended("user_busy")]) == [.wait, .finish(.met)])
    }

    @Test func `an end that is expected is waited for, and another one is none`() {
        #expect(
            steps(.ending("normal_clearing"), [ringing, talking, talking, ended("normal_clearing", isAnswered: true)])
                == [.wait, .wait, .wait, .finish(.met)])
        #expect(
            steps(.ending("user_busy"), [ringing, ended("call_rejected")])
                == [.wait, .finish(.missed("the call is over: call_rejected, it was not answered"))])
    }

    @Test func `keys are gathered from the answer on, also while something is pressed`() {
        #expect(
            steps(
                .keys("12"), files: ["menu.wav"], keys: "9",
                [talking, gathering("1"), gathering("1"), gathering("1"), gathering("12")])
                == [.gather(prompt: ["menu.wav"]), .press("9"), .wait, .wait, .finish(.met)])
    }

    @Test func `other keys are a failure at once`() {
        #expect(
            steps(.keys("12"), [talking, gathering(""), gathering("13")])
                == [.gather(prompt: []), .wait, .finish(.missed("the callee pressed 13"))])
    }

    @Test(
        arguments: [
            ("answered", .answered), ("keys:1a#", .keys("1A#")), ("busy", .ending("user_busy")),
            ("rejected", .ending("call_rejected")), ("unanswered", .ending("no_answer")),
            ("unreachable", .ending("subscriber_absent")), ("unknown", .ending("unallocated_number")),
            ("ended", .ending("normal_clearing")), ("media_timeout", .ending("media_timeout")),
        ] as [(String, CallTrial.Expectation)])
    func `expectations are read`(_ text: String, _ expectation: CallTrial.Expectation) throws {
        #expect(try CallTrial.Expectation(parsing: text) == expectation)
    }

    @Test(arguments: ["", "keys:", "keys:x", "keys:" + String(repeating: "1", count: 65), "Answered", "maybe"])
    func `what is no expectation is refused`(_ text: String) {
        #expect(throws: CallTrial.Refusal.self) { try CallTrial.Expectation(parsing: text) }
    }
}

@Suite struct EventLinesTests {
    private func text(_ lines: inout EventLines, _ piece: String) -> String {
        String(decoding: lines.complete(Array(piece.utf8)), as: UTF8.self)
    }

    @Test func `lines come whole, however they arrive, and empty ones do not`() {
        var lines = EventLines(since: "a-1")
        #expect(text(&lines, "\n{\"id\":") == "")
        #expect(lines.cursor == "a-1")
        #expect(text(&lines, "\"a-2\"}\n{\"id\":\"a-3\"}\n\n{\"id\"") == "{\"id\":\"a-2\"}\n{\"id\":\"a-3\"}\n")
        #expect(lines.cursor == "a-3")
    }

    @Test func `what was cut off is forgotten, since it comes again`() {
        var lines = EventLines(since: nil)
        #expect(text(&lines, "{\"id\":\"a-1\"}\n{\"id\":\"a") == "{\"id\":\"a-1\"}\n")
        lines.breakOff()
        #expect(text(&lines, "{\"id\":\"a-2\"}\n") == "{\"id\":\"a-2\"}\n")
        #expect(lines.cursor == "a-2")
    }
}
