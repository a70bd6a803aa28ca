import Primitives
import Quality
import TestSupport
import Testing

struct QualityMonitorTests {
    /// A leg that is measured once a second.
    private struct Leg {
        var monitor = QualityMonitor()
        var clock = VirtualClock()
        var (inbound, outbound) = (Self.stream(), Self.stream())

        static func stream() -> StreamQuality {
            var stream = StreamQuality()
            stream.encoding = "PCMA"
            return stream
        }

        /// A second with so many packets lost out of fifty.
        mutating func second(lost: Int64 = 0, isSilent: Bool = false) -> QualityMonitor.Occasion? {
            clock.advance(by: .seconds(1))
            if !isSilent {
                inbound.packets += UInt64(50 - lost)
                inbound.lost += lost
                outbound.packets += 50
            }
            monitor.measured(inbound: inbound, outbound: outbound, at: clock.now)
            return monitor.report(at: clock.now)?.occasion
        }
    }

    @Test func `a steady call is told at once and then every five seconds`() {
        var leg = Leg()
        let told = (0..<12).map { _ in leg.second() }
        #expect(told == [.bandChange, nil, nil, nil, nil, .interval, nil, nil, nil, nil, .interval, nil])
    }

    @Test func `another band is told at once, and the interval starts anew`() {
        var leg = Leg()
        let told = [0, 0, 10, 10, 0, 0, 0, 0, 0, 0].map { leg.second(lost: $0) }
        #expect(told == [.bandChange, nil, .bandChange, nil, .bandChange, nil, nil, nil, nil, .interval])
    }

    @Test func `what is told is what was measured last`() {
        var leg = Leg()
        _ = leg.second()
        leg.clock.advance(by: .seconds(1))
        leg.inbound.packets += 40
        leg.inbound.lost += 10
        leg.monitor.measured(inbound: leg.inbound, outbound: nil, at: leg.clock.now)
        let report = leg.monitor.report(at: leg.clock.now)
        #expect(report?.inbound?.rating?.band == .bad)
        #expect(report?.outbound == nil)
        #expect(leg.monitor.report(at: leg.clock.now) == nil)
    }

    @Test func `nothing is told of a leg that is silent, and silence is no other band`() {
        var leg = Leg()
        #expect(leg.second() == .bandChange)
        #expect((0..<9).map { _ in leg.second(isSilent: true) }.allSatisfy { $0 == nil })
        #expect(leg.monitor.nextDeadline == nil)
        #expect(leg.second() == .interval)
    }

    @Test func `the next deadline says when and why`() {
        var leg = Leg()
        #expect(leg.monitor.nextDeadline == nil)
        _ = leg.second()
        let told = leg.clock.now
        #expect(leg.monitor.nextDeadline == Deadline(told + .seconds(5), .interval))
        leg.clock.advance(by: .seconds(1))
        leg.inbound.packets += 10
        leg.inbound.lost += 40
        leg.monitor.measured(inbound: leg.inbound, outbound: leg.outbound, at: leg.clock.now)
        #expect(leg.monitor.nextDeadline == Deadline(leg.clock.now, .bandChange))
    }
}
