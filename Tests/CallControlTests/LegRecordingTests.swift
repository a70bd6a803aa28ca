import CallControl
import CallSupport
import Primitives
import TestSupport
import Testing

/// The recordings of an application's leg: which commands there are obstacles to, and what the application sees.
struct LegRecordingTests {
    private var leg: ApplicationLeg
    private var clock = VirtualClock()

    init() throws {
        let address = try #require(UserAddress(parsing: "robot@example.com"))
        leg = ApplicationLeg(
            called: try #require(ApplicationIdentity("robot#1")), at: address, as: SessionID("B"),
            at: LegAddress(call: CallID(7), leg: .callee), time: 1_000)
    }

    private static let start = ApplicationCommand.record(.start(try! RecordRequest(tag: "t")))

    private mutating func take(_ command: ApplicationCommand) -> [CallCommand] {
        defer { leg.finish(command) }
        return leg.take(command, at: clock.now)
    }

    private var states: [Recording.State] { leg.view.recordings.map(\.state) }

    /// What the commands start, pause, resume and stop cannot be carried out for.
    private var obstacles: [ApplicationObstacle?] {
        [Self.start, .record(.pause), .record(.resume), .record(.stop)].map { leg.obstacle(to: $0) }
    }

    /// Of those commands the ones without an obstacle.
    private var possible: [Bool] { obstacles.map { $0 == nil } }

    @Test mutating func `one recording goes on at a time, and is paused, resumed and stopped`() throws {
        #expect(possible == [true, false, false, false])
        let first = leg.nextRecording
        #expect(take(Self.start) == [.headless(.say(.record(.start(first, try RecordRequest(tag: "t")))))])
        #expect(leg.view.recordings == [.init(id: first, tag: "t", state: .recording)])
        #expect(possible == [false, true, false, true])
        #expect(take(.record(.pause)) == [.headless(.say(.record(.pause)))])
        #expect(states == [.paused] && possible == [false, false, true, true])
        #expect(take(.record(.resume)) == [.headless(.say(.record(.resume)))])
        #expect(states == [.recording])
        #expect(take(.record(.stop)) == [.headless(.say(.record(.stop)))])
        #expect(states == [.stopped] && possible == [true, false, false, false])
        #expect(leg.nextRecording != first)
        _ = take(Self.start)
        #expect(states == [.stopped, .recording])
    }

    @Test mutating func `a command about a recording that cannot be carried out is refused with the reason`() {
        #expect(obstacles == [nil, .noRecording, .noRecording, .noRecording])
        _ = take(Self.start)
        #expect(obstacles == [.recordingGoesOn, nil, .recordingNotPaused, nil])
        _ = take(.record(.pause))
        #expect(obstacles == [.recordingGoesOn, .recordingPaused, nil, nil])
    }

    @Test mutating func `a recording that ends by itself makes a new version, and room for the next one`() {
        let id = leg.nextRecording
        _ = take(Self.start)
        let version = leg.view.version
        leg.recordingEnded(id)
        #expect(states == [.stopped] && leg.view.version == version + 1)
        #expect(possible == [true, false, false, false])
        leg.recordingEnded(RecordingID(9, of: SessionID("other")))
        #expect(states == [.stopped])
    }

    @Test mutating func `a command that the call refuses changes nothing, unless the recording has ended`() {
        var before = leg
        _ = leg.take(Self.start, at: clock.now)
        leg.withdraw(Self.start, before: before, at: clock.now)
        #expect(leg.view.recordings.isEmpty && leg.nextRecording == before.nextRecording)
        let id = leg.nextRecording
        _ = take(Self.start)
        for command in [RecordCommand.pause, .stop] {
            before = leg
            _ = leg.take(.record(command), at: clock.now)
            leg.withdraw(.record(command), before: before, at: clock.now)
            #expect(states == [.recording])
        }
        before = leg
        _ = leg.take(.record(.stop), at: clock.now)
        leg.recordingEnded(id)
        leg.withdraw(.record(.stop), before: before, at: clock.now)
        #expect(states == [.stopped])
    }

    @Test mutating func `a leg has so many recordings and no more`() {
        for _ in 0..<RecordRequest.maximumCount {
            #expect(leg.obstacle(to: Self.start) == nil)
            _ = take(Self.start)
            _ = take(.record(.stop))
        }
        #expect(leg.obstacle(to: Self.start) == .recordings(limit: RecordRequest.maximumCount))
    }

    @Test func `a call that hears something before the answer is recorded from then on`() throws {
        let address = try #require(UserAddress(parsing: "robot@example.com"))
        let wish = try RecordRequest(format: .wav)
        let robot = RegisteredApplication(
            identity: try #require(ApplicationIdentity("robot#1")), displayName: "Robot",
            addresses: [ApplicationAddress(address)])
        var leg = ApplicationLeg(
            starting: try ApplicationCallRequest(to: address, from: address, earlyMedia: true, record: wish), by: robot,
            as: SessionID("A"), at: LegAddress(call: CallID(7), leg: .caller), time: 1)
        #expect(leg.handle(CallEvent(.caller, .alerted), at: clock.now, time: 1).isEmpty && !leg.hearsEarly)
        let progressed = leg.handle(CallEvent(.caller, .progressed(description: "")), at: clock.now, time: 1)
        #expect(progressed == [.record(wish)] && leg.hearsEarly)
        #expect(leg.established(time: 1).isEmpty, "it has started already")
    }

    @Test func `a recording that was asked for with the call starts when it is answered, once`() throws {
        let address = try #require(UserAddress(parsing: "robot@example.com"))
        let wish = try RecordRequest(format: .wav)
        let robot = RegisteredApplication(
            identity: try #require(ApplicationIdentity("robot#1")), displayName: "Robot",
            addresses: [ApplicationAddress(address)]
        )
        var leg = ApplicationLeg(
            starting: try ApplicationCallRequest(to: address, from: address, record: wish), by: robot,
            as: SessionID("A"), at: LegAddress(call: CallID(7), leg: .caller), time: 1)
        #expect(leg.handle(CallEvent(.caller, .alerted), at: clock.now, time: 1).isEmpty)
        #expect(leg.established(time: 1) == [.record(wish)])
        #expect(leg.established(time: 1).isEmpty)
        leg.postponeRecording(wish)
        #expect(leg.handle(CallEvent(.caller, .held), at: clock.now, time: 1) == [.record(wish)])
        leg.postponeRecording(wish)
        leg.detach(at: clock.now)
        #expect(leg.established(time: 1).isEmpty, "the call is over")
    }
}
