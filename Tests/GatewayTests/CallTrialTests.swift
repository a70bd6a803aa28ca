import Testing

import Gateway

@Suite struct CallTrialTests {
    private typealias Sight = CallTrial.Sight

    private let ringing = Sight(state: "ringing")
    private let talking = Sight(state: "talking", isAnswered: true)
    private let playing = Sight(state: "talking", isAnswered: true, isPlaying: true)

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
        // Two keys and a pause take 2.34 seconds.
        #expect(
            steps(
                .answered, files: ["a.wav", "b.wav"], keys: "1,2",
                [ringing, talking, playing, playing, talking, talking, talking, talking])
                == [.wait, .play(["a.wav", "b.wav"]), .wait, .wait, .press("1,2"), .wait, .wait, .finish(.met)])
    }

    @Test func `a call that ends before everything is played was not what was expected`() {
        let missed = CallTrial.Step.finish(.missed("the call is over: normal_clearing"))
        #expect(
            steps(.answered, files: ["a.wav"], [talking, playing, ended("normal_clearing", isAnswered: true)])
                == [.play(["a.wav"]), .wait, missed])
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
