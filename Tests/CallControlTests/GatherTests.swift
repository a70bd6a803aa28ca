import CallControl
import Primitives
import TestSupport
import Testing

/// Gathering keys: how many, until when, and what for.
struct GatherTests {
    private struct Rig {
        var gather: Gather
        var clock = VirtualClock()
        var result: GatheredKeys?
        var stops = 0

        init(_ request: GatherRequest) { gather = Gather(request, at: clock.now) }

        mutating func press(_ text: String) {
            for key in Key.keys(of: text) ?? [] { take(gather.press(key, at: clock.now)) }
        }

        /// Lets time pass, and wakes the machine when it asks for it.
        mutating func wait(_ time: Duration) {
            let end = clock.now + time
            while let deadline = gather.deadline, deadline <= end {
                clock.advance(by: deadline - clock.now)
                take(gather.timeout(at: clock.now))
            }
            clock.advance(by: end - clock.now)
        }

        mutating func take(_ actions: [Gather.Action]) {
            for action in actions {
                switch action {
                case .stopPrompt: stops += 1
                case .end(let keys):
                    #expect(result == nil, "it ends once")
                    result = keys
                }
            }
        }

        var text: String { result.map { "\($0.text) \($0.outcome)" } ?? "-" }
    }

    private static func request(
        _ maximum: Int = 4, _ terminators: String = "#", valid: [String]? = nil, prompt: Bool = false
    ) throws -> GatherRequest {
        try GatherRequest(
            maximum: maximum, terminators: terminators, firstTimeout: .seconds(5), betweenTimeout: .seconds(2),
            prompt: prompt ? PlayList(file: "menu.wav") : nil, valid: valid, tag: "t")
    }

    @Test(arguments: [
        ("12#", "12 terminator"), ("#", " terminator"), ("1234", "1234 maximum"), ("12345", "1234 maximum"),
        ("12", "-"), ("", "-"),
    ])
    func `keys are gathered to the terminator or the maximum`(_ pressed: String, _ result: String) throws {
        var rig = Rig(try Self.request())
        rig.press(pressed)
        #expect(rig.text == result)
        #expect(rig.gather.isOver == (result != "-"))
    }

    @Test func `the first key is waited for longer than the next one`() throws {
        var rig = Rig(try Self.request())
        rig.wait(.milliseconds(4_999))
        #expect(rig.result == nil)
        rig.press("1")
        rig.wait(.milliseconds(1_999))
        rig.press("2")
        rig.wait(.milliseconds(1_999))
        #expect(rig.result == nil)
        rig.wait(.milliseconds(1))
        #expect(rig.text == "12 timeout")
        #expect(rig.result?.tag == "t")
        rig = Rig(try Self.request())
        rig.wait(.seconds(5))
        #expect(rig.text == " timeout")
    }

    @Test func `a prompt stops at the first key, and the first key is waited for from its end`() throws {
        var rig = Rig(try Self.request(prompt: true))
        rig.wait(.seconds(60))
        #expect(rig.result == nil)
        rig.press("12")
        #expect(rig.stops == 1)
        rig = Rig(try Self.request(prompt: true))
        rig.gather.promptEnded(at: rig.clock.now)
        rig.wait(.seconds(4))
        rig.gather.promptEnded(at: rig.clock.now)
        rig.wait(.seconds(1))
        #expect(rig.text == " timeout")
        #expect(rig.stops == 0)
    }

    @Test(arguments: [
        ("1", "1 valid"), ("42", "42 valid"), ("9", "-"), ("99", "99 maximum"), ("8", "-"), ("81", "81 valid"),
    ])
    func `a valid answer ends it at once`(_ pressed: String, _ result: String) throws {
        var rig = Rig(try Self.request(2, "", valid: ["1", "42", "8", "81"]))
        rig.press(pressed)
        #expect(rig.text == result)
    }

    @Test func `an answer with which a longer one starts is valid when no key follows`() throws {
        var rig = Rig(try Self.request(2, "", valid: ["8", "81"]))
        rig.press("8")
        rig.wait(.seconds(2))
        #expect(rig.text == "8 valid")
        rig = Rig(try Self.request(2, "", valid: ["8", "81"]))
        rig.press("7")
        rig.wait(.seconds(2))
        #expect(rig.text == "7 timeout")
    }

    @Test func `it can be stopped, and hears nothing afterwards`() throws {
        var rig = Rig(try Self.request(prompt: true))
        rig.take(rig.gather.stop())
        #expect(rig.text == " stopped" && rig.stops == 1)
        rig.press("1")
        rig.take(rig.gather.stop())
        rig.wait(.seconds(60))
        #expect(rig.text == " stopped" && rig.gather.deadline == nil)
    }

    @Test func `what cannot be gathered is refused by name`() {
        let timeouts = Duration.milliseconds(100)...Duration.seconds(300)
        let cases: [(ApplicationFault, () throws(ApplicationFault) -> GatherRequest)] = [
            (.keyCount(1...64), { () throws(ApplicationFault) in try GatherRequest(maximum: 0) }),
            (.keyCount(1...64), { () throws(ApplicationFault) in try GatherRequest(maximum: 65) }),
            (.terminators, { () throws(ApplicationFault) in try GatherRequest(terminators: "x") }),
            (.firstTimeout(timeouts), { () throws(ApplicationFault) in try GatherRequest(firstTimeout: .zero) }),
            (
                .betweenTimeout(timeouts),
                { () throws(ApplicationFault) in try GatherRequest(betweenTimeout: .seconds(301)) }
            ),
            (.answerCount(1...1_000), { () throws(ApplicationFault) in try GatherRequest(valid: []) }),
            (.answer(1, keys: 1...1), { () throws(ApplicationFault) in try GatherRequest(valid: ["1", "12"]) }),
            (
                .answer(0, keys: 1...2),
                { () throws(ApplicationFault) in try GatherRequest(maximum: 2, terminators: "#", valid: ["1#"]) }
            ),
            (
                .tagLength(limit: 128),
                { () throws(ApplicationFault) in try GatherRequest(tag: String(repeating: "x", count: 129)) }
            ),
        ]
        for (fault, make) in cases {
            do throws(ApplicationFault) {
                _ = try make()
                Issue.record("\(fault) was accepted")
            } catch {
                #expect(error == fault)
            }
        }
    }

    @Test func `keys have the numbers of telephone events`() {
        #expect(Key.allCases.map(\.eventCode) == Array(0...15))
        for key in Key.allCases { #expect(Key(eventCode: key.eventCode) == key) }
        #expect(Key(eventCode: 16) == nil)
        #expect(Key.keys(of: "*a#") == [.star, .letterA, .pound])
        #expect(Key.keys(of: "1,2") == nil)
    }
}
