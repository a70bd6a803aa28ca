import CallControl
import CallSupport
import Testing

/// What becomes of a recording, 20 ms after 20 ms; and what an application sees and may do.
struct RecordingCourseTests {
    /// What passes: `s` silence, `l` sound, `p` a pause, `r` the end of the pause, `e` the end.
    ///
    /// - Returns: `x` for each 20 ms that is recorded, `-` for each that is not, `.` for what changes nothing.
    private static func run(_ course: inout RecordingCourse, _ steps: String) -> String {
        steps.map { step in
            switch step {
            case "p": course.pause() ? "P" : "."
            case "r": course.resume() ? "R" : "."
            case "e": course.end(.command) ? "E" : "."
            default: course.pass(isSilent: step == "s") ? "x" : "-"
            }
        }.joined()
    }

    private static func course(
        maximum: Duration = .seconds(1), silence: Duration? = nil, beep: Bool = false
    ) throws -> RecordingCourse {
        RecordingCourse(try RecordRequest(maximum: maximum, silence: silence, beep: beep))
    }

    @Test(arguments: [
        ("llpllrle", "xxP--RxE", RecordingCourse.State.over(.command)),
        ("lpprrlel", "xP.R.xE-", .over(.command)),
        ("erp", "E..", .over(.command)),
        ("ll", "xx", .recording),
        ("lpl", "xP-", .paused),
    ])
    func `what is said in a pause is left out`(_ steps: String, _ kept: String, _ state: RecordingCourse.State) throws {
        var course = try Self.course()
        #expect(Self.run(&course, steps) == kept)
        #expect(course.state == state)
        #expect(course.recorded == kept.count { $0 == "x" })
    }

    @Test func `it ends when it is as long as it may be, pauses left out`() throws {
        var course = try Self.course()
        #expect(
            Self.run(&course, String(repeating: "l", count: 30) + "plllr") == String(repeating: "x", count: 30)
                + "P---R")
        #expect(Self.run(&course, String(repeating: "l", count: 21)) == String(repeating: "x", count: 20) + "-")
        #expect(course.state == .over(.maximum) && course.recorded == 50)
    }

    @Test func `it ends when as much is written as it may have, also if fewer cycles have passed`() throws {
        var course = try Self.course()
        #expect(Self.run(&course, "ll") == "xx")
        var count = 0
        while count < 100, course.write(samples: 960) { count += 1 }
        #expect(count == 50 && course.state == .over(.maximum))
        let hasRoom = course.write(samples: 120)
        #expect(!hasRoom)
        #expect(Self.run(&course, "l") == "-")
    }

    @Test func `it ends after a silence, which a sound and a pause interrupt`() throws {
        var course = try Self.course(maximum: .seconds(60), silence: .seconds(1))
        let quiet = String(repeating: "s", count: 49)
        #expect(!Self.run(&course, quiet + "l" + quiet + "pssr" + quiet).hasSuffix("-"))
        #expect(course.state == .recording)
        #expect(Self.run(&course, "ss") == "x-")
        #expect(course.state == .over(.silence))
    }

    @Test func `nothing is recorded of the tone before it`() throws {
        var course = try Self.course(beep: true)
        #expect(Self.run(&course, String(repeating: "l", count: 21)) == String(repeating: "-", count: 20) + "x")
        var paused = try Self.course(beep: true)
        #expect(Self.run(&paused, "lplrl") == "-P-Rx")
    }

    @Test func `a request that cannot be meant is refused with its field`() {
        let lengths = Duration.seconds(1)...Duration.seconds(14_400)
        let silences = Duration.seconds(1)...Duration.seconds(600)
        let cases: [(ApplicationFault, () throws -> RecordRequest)] = [
            (.channels(1...2), { try RecordRequest(channels: 3) }),
            (.channelsOfOneSide, { try RecordRequest(sides: .own, channels: 2) }),
            (.recordingLength(lengths), { try RecordRequest(maximum: .milliseconds(999)) }),
            (.recordingLength(lengths), { try RecordRequest(maximum: .seconds(14_401)) }),
            (.silence(silences), { try RecordRequest(silence: .milliseconds(999)) }),
            (.tagLength(limit: 128), { try RecordRequest(tag: String(repeating: "a", count: 129)) }),
        ]
        for (fault, make) in cases {
            #expect(throws: fault) { _ = try make() }
        }
    }

    @Test func `no name of a recording leads out of a folder`() {
        #expect(RecordingID(3, of: SessionID("aB3_-x")).description == "aB3_-x-3")
        #expect(RecordingID(1, of: SessionID("../a/\0b c")).description == "abc-1")
        #expect(RecordingID(1, of: SessionID(String(repeating: "a", count: 900))).description.utf8.count <= 128)
        for text in ["", ".", "..", "../a", "a/b", "a.wav", "a b", "ä", "a\0", String(repeating: "a", count: 129)] {
            #expect(RecordingID(text) == nil, "\(text)")
        }
        #expect(RecordingID("a-1")?.description == "a-1")
    }
}
