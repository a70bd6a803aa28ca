import Primitives
import RTP
import TestSupport
import Testing

@Suite struct ReportClockTests {
    @Test(
        arguments: [
            (0, 0x83AA_7E80_0000_0000),
            (500_000_000, 0x83AA_7E80_8000_0000),
            (1_700_000_000_250_000_000, 0xE8FE_6F80_4000_0000),
        ] as [(UInt64, UInt64)])
    func `Unix time becomes NTP time`(_ nanoseconds: UInt64, _ ntp: UInt64) {
        #expect(NTPTimestamp(unixNanoseconds: nanoseconds).rawValue == ntp)
    }

    @Test func `the compact form is the middle`() {
        #expect(NTPTimestamp(0x1122_3344_5566_7788).compact == 0x3344_5566)
    }

    @Test func `the wall clock runs with the monotonic one, both ways`() {
        let moment = VirtualClock().now
        let clock = WallClock(showing: NTPTimestamp(0x10_0000_0000), at: moment)
        #expect(clock.time(at: moment + .milliseconds(1500)).rawValue == 0x11_8000_0000)
        #expect(clock.time(at: moment - .milliseconds(250)).rawValue == 0x0F_C000_0000)
    }

    @Test(
        arguments: [
            (.zero, 0), (.milliseconds(5250), 0x0005_4000), (.seconds(-1), 0), (.seconds(65535), 0xFFFF_0000),
            (.seconds(65536), .max),
        ] as [(Duration, UInt32)])
    func `delays are counted in 65536ths`(_ duration: Duration, _ units: UInt32) {
        #expect(duration.in65536ths == units)
        if duration >= .zero, units < .max { #expect(Duration.in65536ths(units) == duration) }
    }

    /// The example of RFC 3550 §6.4.1, figure 2: DLSR 5.250 s, round trip 6.125 s.
    @Test func `the round trip of the RFC's example`() {
        let sent = NTPTimestamp(0xB44D_B705_2000_0000)
        let moment = VirtualClock().now
        var roundTrip = RoundTrip()
        roundTrip.senderReportSent(sent, at: moment)
        // A = b710:8000, so the report arrives 46,864.500 − 46,853.125 = 11.375 s after it left.
        let block = ReportBlock(ssrc: SSRC(1), lastSenderReport: 0xB705_2000, delaySinceLastSenderReport: 0x0005_4000)
        roundTrip.reportReceived(block, at: moment + .milliseconds(11_375))
        #expect(roundTrip.latest == .milliseconds(6125))
    }

    @Test func `reports that refer to nothing sent measure nothing`() {
        let moment = VirtualClock().now
        var roundTrip = RoundTrip()
        roundTrip.senderReportSent(NTPTimestamp(0x1_0000_0000), at: moment)
        roundTrip.reportReceived(ReportBlock(ssrc: SSRC(1), lastSenderReport: 0), at: moment)
        roundTrip.reportReceived(ReportBlock(ssrc: SSRC(1), lastSenderReport: 77), at: moment)
        #expect(roundTrip.latest == nil)
        // A delay longer than the round trip is a receiver's mistake, not time travel.
        roundTrip.reportReceived(
            ReportBlock(ssrc: SSRC(1), lastSenderReport: 0x1_0000, delaySinceLastSenderReport: 65536),
            at: moment + .milliseconds(10))
        #expect(roundTrip.latest == .zero)
    }
}
