import Primitives
import TestSupport
import Testing

struct RateAllowanceTests {
    private let rate = RateAllowance.Rate(burst: 3, interval: .seconds(2))

    @Test func `so many in a row, then one per interval, and all of them again after a rest`() {
        var (allowance, clock) = (RateAllowance(), VirtualClock())
        for _ in 0..<3 { #expect(allowance.charge(rate, at: clock.now) == nil) }
        #expect(allowance.charge(rate, at: clock.now) == .seconds(2))
        clock.advance(by: .milliseconds(500))
        #expect(allowance.charge(rate, at: clock.now) == .milliseconds(1_500), "being refused costs nothing")
        clock.advance(by: .milliseconds(1_500))
        #expect(allowance.charge(rate, at: clock.now) == nil)
        #expect(allowance.charge(rate, at: clock.now) == .seconds(2))
        clock.advance(by: .seconds(6))
        for _ in 0..<3 { #expect(allowance.charge(rate, at: clock.now) == nil) }
        #expect(allowance.charge(rate, at: clock.now) == .seconds(2))
    }

    @Test func `a debt that has gone by is forgotten, and none before`() {
        var (allowance, clock) = (RateAllowance(), VirtualClock())
        #expect(allowance.clearAt == nil)
        _ = allowance.charge(rate, at: clock.now)
        #expect(allowance.clearAt == clock.now + .seconds(2))
        clock.advance(by: .milliseconds(1_999))
        allowance.timeout(at: clock.now)
        #expect(allowance.clearAt != nil)
        clock.advance(by: .milliseconds(1))
        allowance.timeout(at: clock.now)
        #expect(allowance.clearAt == nil)
    }
}
