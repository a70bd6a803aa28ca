import Audio
import MediaPlane
import MediaServer
import SDP
import Testing

/// Who sees whom in a mix.
struct ActiveSpeakerTests {
    private static let (first, second, third, fourth) = (LegIndex(0), LegIndex(1), LegIndex(2), LegIndex(3))

    /// Legs in a mix; who speaks, speaks alone.
    private struct Meeting {
        var rig: EngineRig
        private var timestamp: UInt32 = 0

        init(showing: Set<Int> = [0, 1, 2]) {
            rig = EngineRig(mixing: [[.pcmu], [.pcmu], [.pcmu]], showing: showing)
            // Whose video has never been heard of cannot be asked for a key frame.
            for place in 0..<3 { _ = rig.viewers(of: LegIndex(place)) }
            rig.run(cycles: 20)
            _ = rig.keyFrameRequests()
        }

        /// Long enough for others to notice.
        mutating func say(_ leg: LegIndex) {
            var oscillator = Oscillator(frequency: 500, rate: 8_000)
            for _ in 0..<60 {
                let payload = (0..<160).map { _ in G711.muLaw.encode(Int16(8_000 * oscillator.next())) }
                rig.receive(payload, from: leg, payloadType: 0, timestamp: timestamp)
                timestamp &+= 160
                rig.runCycle()
            }
        }

        mutating func expect(_ expected: [[LegIndex]], _ sourceLocation: SourceLocation = #_sourceLocation) {
            for (place, viewers) in expected.enumerated() {
                let seen = rig.viewers(of: LegIndex(place))
                #expect(seen == viewers, "of leg \(place)", sourceLocation: sourceLocation)
            }
        }

        mutating func expectKeyFrame(of legs: LegIndex..., sourceLocation: SourceLocation = #_sourceLocation) {
            let asked = rig.keyFrameRequests()
            #expect(asked == legs, sourceLocation: sourceLocation)
        }
    }

    @Test func `everybody sees who speaks, and who speaks sees who spoke before`() {
        var meeting = Meeting()
        meeting.expect([[Self.second, Self.third], [Self.first], []])
        meeting.say(Self.second)
        meeting.expectKeyFrame(of: Self.second)
        meeting.expect([[Self.second], [Self.first, Self.third], []])
        meeting.say(Self.third)
        meeting.expectKeyFrame(of: Self.third)
        meeting.expect([[], [Self.third], [Self.first, Self.second]])
        meeting.say(Self.third)
        meeting.expectKeyFrame()
        meeting.say(Self.first)
        meeting.expectKeyFrame(of: Self.first)
        meeting.expect([[Self.second, Self.third], [], [Self.first]])
    }

    @Test func `who comes later sees the speaker at once`() {
        var meeting = Meeting()
        meeting.say(Self.third)
        meeting.expectKeyFrame(of: Self.third)
        meeting.rig.run(cycles: 50)
        meeting.rig.join([.pcmu], showsItself: true)
        meeting.expectKeyFrame(of: Self.third)
        meeting.expect([[Self.third], [], [Self.first, Self.second, Self.fourth], []])
    }

    @Test func `to whom music is played sees whom it saw; afterwards, who speaks then`() {
        var meeting = Meeting()
        meeting.say(Self.first)
        meeting.rig.engine.setPlayer(SinePlayer(), number: 1)
        meeting.rig.setSource(.player(1))
        meeting.say(Self.third)
        meeting.expect([[Self.second, Self.third], [], [Self.first]])
        _ = meeting.rig.keyFrameRequests()
        meeting.rig.setSource(.mix)
        meeting.expectKeyFrame(of: Self.third)
        meeting.expect([[Self.third], [], [Self.first, Self.second]])
    }

    @Test func `when the speaker leaves the others see somebody else`() {
        var meeting = Meeting()
        meeting.say(Self.second)
        _ = meeting.rig.keyFrameRequests()
        meeting.rig.leave(Self.second)
        meeting.expectKeyFrame(of: Self.third, Self.first)
        meeting.expect([[Self.third], [], [Self.first]])
    }

    @Test func `a speaker without video takes nobody else's away`() {
        var meeting = Meeting(showing: [0, 2])
        meeting.say(Self.second)
        meeting.expectKeyFrame()
        meeting.expect([[Self.third], [], [Self.first]])
    }
}
