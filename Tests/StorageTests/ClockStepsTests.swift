import CallControl
import Primitives
import Testing

@testable import Storage

@Suite struct ClockStepsTests {
    private func moment(_ seconds: Double, wall: Double) -> Moment {
        Moment(
            .zero + .milliseconds(Int64(seconds * 1_000)), epochMilliseconds: 1_700_000_000_000 + Int64(wall * 1_000))
    }

    private func forward(_ steps: inout ClockSteps, within duration: Duration, at now: MonotonicTime) -> Int64 {
        steps.forward(within: duration, at: now)
    }

    @Test func `clocks that go on together make no step`() {
        var steps = ClockSteps()
        for second in 0..<100 {
            // The wall clock is slewed by 500 ppm, and read late by up to a second.
            steps.read(moment(Double(second * 5), wall: Double(second * 5) * 1.0005 + (second % 2 == 0 ? 0 : 1)))
        }
        #expect(steps.outstanding == 0)
        #expect(forward(&steps, within: .seconds(1_000), at: .zero + .seconds(500)) == 0)
    }

    @Test func `steps are found in both directions, and add up until they are applied`() {
        var steps = ClockSteps()
        steps.read(moment(0, wall: 0))
        steps.read(moment(5, wall: 3_605))
        #expect(steps.outstanding == 3_600_000)
        steps.wasApplied(3_600_000)
        steps.read(moment(10, wall: 10))
        #expect(steps.outstanding == -3_600_000)
        steps.read(moment(15, wall: 115))
        #expect(steps.outstanding == -3_500_000)
    }

    @Test func `only steps forward make things look old, and only for a while`() {
        var steps = ClockSteps()
        steps.read(moment(0, wall: 0))
        steps.read(moment(5, wall: 65))
        steps.read(moment(10, wall: 10))
        #expect(forward(&steps, within: .seconds(120), at: .zero + .seconds(10)) == 60_000)
        #expect(forward(&steps, within: .seconds(120), at: .zero + .seconds(124)) == 60_000)
        #expect(forward(&steps, within: .seconds(120), at: .zero + .seconds(125)) == 0)
    }
}
