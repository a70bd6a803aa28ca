import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

@Suite struct BridgeReportTests {
    private static func senderReports(_ compounds: [RTCPCompound]) -> [SenderReport] {
        compounds.flatMap(\.packets).compactMap { if case .senderReport(let report) = $0 { report } else { nil } }
    }

    private static func blocks(_ compounds: [RTCPCompound]) -> [ReportBlock] {
        compounds.flatMap(\.packets).flatMap { packet -> [ReportBlock] in
            switch packet {
            case .senderReport(let report): report.blocks
            case .receiverReport(let report): report.blocks
            case .sourceDescription, .goodbye, .genericNACK, .pictureLossIndication, .fullIntraRequest,
                .estimatedMaximumBitrate, .transportFeedback, .other:
                []
            }
        }
    }

    private static func sourceReport(_ ssrc: UInt32, ntp: UInt64, timestamp: UInt32) -> RTCPPacket {
        .senderReport(
            SenderReport(
                ssrc: SSRC(ssrc), ntp: NTPTimestamp(ntp), timestamp: RTPTimestamp(timestamp), packetCount: 1,
                octetCount: 1))
    }

    // MARK: When

    @Test(arguments: [(true, Duration.seconds(1)), (false, Duration.seconds(5))])
    func `reports come at random within half and one and a half intervals, the first in half that time`(
        _ hasVideo: Bool, _ interval: Duration
    ) throws {
        var gaps: Set<Duration> = []
        for seed in 1...30 as ClosedRange<UInt64> {
            var rig = BridgeRig(seed: seed, ready: false)
            for side in LegIndex.allCases { rig.configure(side) { if !hasVideo { $0.media.removeLast() } } }
            #expect(rig.bridge.nextDeadline == nil)
            rig.peerReady(.a)
            var last = rig.clock.now
            for index in 0..<5 {
                let deadline = try #require(rig.bridge.nextDeadline)
                #expect(deadline.reason == .reports(to: .a))
                let gap = (deadline.time - last) * (index == 0 ? 2 : 1)
                #expect(gap >= interval / 2 && gap <= interval * 3 / 2)
                gaps.insert(gap)
                last = deadline.time
                rig.advance(by: last - rig.clock.now)
                #expect(rig.compounds(to: .a).count == 1)
            }
        }
        #expect(gaps.count > 100)
    }

    @Test func `the earlier of both sides' deadlines comes first`() throws {
        var rig = BridgeRig()
        for _ in 0..<50 {
            let deadline = try #require(rig.bridge.nextDeadline)
            guard case .reports(let side) = deadline.reason else {
                Issue.record("another deadline: \(deadline)")
                return
            }
            rig.advance(by: deadline.time - rig.clock.now)
            #expect(!rig.compounds(to: side).isEmpty)
            #expect(rig.compounds(to: side.other).isEmpty)
        }
    }

    // MARK: What

    @Test func `a peer without media is told that the gateway is there`() {
        var rig = BridgeRig()
        rig.advance(by: .seconds(1))
        #expect(
            rig.compounds(to: .a).first?.packets == [
                .receiverReport(ReceiverReport(ssrc: SSRC(0xA0))),
                .sourceDescription(SourceDescription([.init(ssrc: SSRC(0xA0), cname: "cname")])),
            ])
    }

    @Test func `every compound begins with a report and names whoever reports`() {
        var rig = BridgeRig()
        for number in 0...500 as ClosedRange<UInt16> {
            _ = rig.audio(number)
            _ = rig.video(number)
            _ = rig.retransmission(number, of: number)
            rig.advance(by: .milliseconds(20))
        }
        for side in LegIndex.allCases {
            let compounds = rig.compounds(to: side)
            #expect(!compounds.isEmpty)
            for compound in compounds {
                var reporting: Set<SSRC> = []
                var named: Set<SSRC> = []
                for packet in compound.packets {
                    switch packet {
                    case .senderReport(let report): reporting.insert(report.ssrc)
                    case .receiverReport(let report): reporting.insert(report.ssrc)
                    case .sourceDescription(let description):
                        named.formUnion(description.chunks.map(\.ssrc))
                        #expect(description.chunks.allSatisfy { $0.cname == "cname" })
                    case .goodbye, .genericNACK, .pictureLossIndication, .fullIntraRequest, .estimatedMaximumBitrate,
                        .transportFeedback, .other:
                        Issue.record("unexpected \(packet)")
                    }
                }
                #expect(reporting == named)
                #expect(
                    reporting.isSubset(
                        of: side == .a ? [SSRC(0xA0), SSRC(0xA1)] : [SSRC(0xB0), SSRC(0xB1), SSRC(0xB2)]))
            }
        }
    }

    @Test func `a receiver report says what was lost, and when the last sender report came`() {
        var rig = BridgeRig()
        for number in [1, 2, 4] as [UInt16] { _ = rig.audio(number) }
        rig.receive(Self.sourceReport(1001, ntp: 0x1122_3344_5566_7788, timestamp: 0), from: .a)
        let received = rig.clock.now
        while rig.compounds(to: .a).isEmpty, let next = rig.bridge.nextDeadline {
            rig.advance(by: next.time - rig.clock.now)
            guard let block = Self.blocks(rig.compounds(to: .a)).first else { continue }
            #expect(block.ssrc == SSRC(1001))
            #expect(block.cumulativeLost == 1)
            #expect(block.fractionLost == 64)
            #expect(block.extendedHighestSequence == 4)
            #expect(block.lastSenderReport == 0x3344_5566)
            #expect(block.delaySinceLastSenderReport == (rig.clock.now - received).in65536ths)
            return
        }
        Issue.record("no block was sent")
    }

    @Test func `a source that is silent is not reported on again`() {
        var rig = BridgeRig()
        _ = rig.audio(1)
        rig.advance(by: .seconds(2))
        #expect(Self.blocks(rig.compounds(to: .a)).count == 1)
        rig.advance(by: .seconds(5))
        #expect(Self.blocks(rig.compounds(to: .a)).isEmpty)
    }

    @Test func `sender reports stop two reports after the last packet`() {
        var rig = BridgeRig()
        _ = rig.audio(1)
        rig.advance(by: .seconds(10))
        #expect(Self.senderReports(rig.compounds(to: .b)).count == 2)
        _ = rig.audio(2)
        rig.advance(by: .seconds(10))
        #expect(Self.senderReports(rig.compounds(to: .b)).count == 2)
    }

    @Test func `sender reports count what the gateway sent`() throws {
        var rig = BridgeRig()
        for number in 1...3 as ClosedRange<UInt16> { _ = rig.audio(number) }
        _ = rig.audio(50, ssrc: 5000)
        _ = rig.audio(4)  // superseded
        rig.advance(by: .seconds(1))
        let report = try #require(Self.senderReports(rig.compounds(to: .b)).first)
        #expect(report.ssrc == SSRC(0xB0))
        #expect(report.packetCount == 4)
        #expect(report.octetCount == 16)
    }

    // MARK: Lip-sync

    /// Where a report puts an outgoing timestamp on the wall clock, in seconds after `BridgeRig.wallTime`.
    private static func captured(_ timestamp: UInt32, by report: SenderReport, clockRate: Double) -> Double {
        Double(report.ntp.rawValue &- BridgeRig.wallTime.rawValue) / 4_294_967_296
            + Double(RTPTimestamp(timestamp) - report.timestamp) / clockRate
    }

    @Test func `audio and video captured together stay together, whatever the source's clock shows`() throws {
        var rig = BridgeRig()
        // A source whose wall clock is decades off; its reports arrive at different times.
        let epoch: UInt64 = 0x1234_0000_0000
        let audio = try #require(rig.audio(1, timestamp: 48_000).packet)
        rig.advance(by: .milliseconds(130))
        let video = try #require(rig.video(1, timestamp: 900_000).packet)
        rig.receive(Self.sourceReport(1001, ntp: epoch, timestamp: 48_000), from: .a)
        rig.advance(by: .milliseconds(70))
        // Captured 70 ms after the audio.
        rig.receive(Self.sourceReport(1002, ntp: epoch + (70 << 32) / 1000, timestamp: 900_000), from: .a)
        _ = rig.compounds(to: .b)
        rig.advance(by: .seconds(2))
        let reports = Self.senderReports(rig.compounds(to: .b))
        let audioTime = Self.captured(
            audio.timestamp, by: try #require(reports.last { $0.ssrc == SSRC(0xB0) }), clockRate: 48000)
        let videoTime = Self.captured(
            video.timestamp, by: try #require(reports.last { $0.ssrc == SSRC(0xB1) }), clockRate: 90000)
        #expect(abs(videoTime - audioTime - 0.070) < 0.0005)
        // And on the gateway's clock the audio was captured when its report came, to begin with.
        #expect(abs(audioTime - 0.130) < 0.0005)
    }

    @Test func `until the source reports, its packets stand for its clock`() throws {
        var rig = BridgeRig()
        rig.advance(by: .milliseconds(100))
        let packet = try #require(rig.audio(1, timestamp: 48_000).packet)
        // A source without a wall clock writes 0 (RFC 3550 §6.4.1).
        rig.receive(Self.sourceReport(1001, ntp: 0, timestamp: 1), from: .a)
        rig.advance(by: .seconds(1))
        let report = try #require(Self.senderReports(rig.compounds(to: .b)).first)
        #expect(abs(Self.captured(packet.timestamp, by: report, clockRate: 48000) - 0.1) < 0.0005)
    }

    // MARK: Round trip and statistics

    @Test func `the round trip is measured from the peer's reports`() throws {
        var rig = BridgeRig()
        _ = rig.audio(1)
        while Self.senderReports(rig.compounds(to: .b)).isEmpty, let next = rig.bridge.nextDeadline {
            rig.advance(by: next.time - rig.clock.now)
            guard let report = Self.senderReports(rig.compounds(to: .b)).first else { continue }
            rig.advance(by: .milliseconds(150))
            let block = ReportBlock(
                ssrc: SSRC(0xB0), fractionLost: 128, cumulativeLost: 5, jitter: 480,
                lastSenderReport: report.ntp.compact,
                delaySinceLastSenderReport: Duration.milliseconds(100).in65536ths)
            rig.receive(.receiverReport(ReceiverReport(ssrc: SSRC(9), blocks: [block])), from: .b)
            let statistics = rig.bridge.statistics(of: .b).lines[0]
            let roundTrip = try #require(statistics.roundTrip)
            #expect(roundTrip > .milliseconds(49) && roundTrip < .milliseconds(51))
            let remote = try #require(statistics.remote)
            #expect((remote.packetsLost, remote.fractionLost, remote.jitter) == (5, 0.5, .milliseconds(10)))
            return
        }
        Issue.record("no sender report was sent")
    }

    @Test func `statistics count both directions of each m-line`() {
        var rig = BridgeRig()
        for number in [1, 2, 5] as [UInt16] { _ = rig.video(number) }
        _ = rig.retransmission(1, of: 2)
        let (from, to) = (rig.bridge.statistics(of: .a).lines[1], rig.bridge.statistics(of: .b).lines[1])
        #expect((from.mid, from.packetsReceived, from.octetsReceived, from.packetsLost) == ("1", 4, 15, 2))
        #expect((from.packetsSent, from.octetsSent) == (0, 0))
        #expect((to.packetsSent, to.octetsSent, to.packetsReceived) == (4, 15, 0))
        #expect(to.remote == nil && to.roundTrip == nil)
    }

    @Test func `reports about many m-lines are spread over several datagrams`() {
        var rig = BridgeRig()
        for side in LegIndex.allCases {
            rig.configure(side) { leg in
                let video = leg.media[1]
                leg.media = (0..<40).map { index in
                    var media = video
                    media.mid = "\(index)"
                    media.localSSRC = SSRC(0xC000 + UInt32(index))
                    media.localRetransmissionSSRC = nil
                    media.remoteSources = [AnnouncedSource(ssrc: SSRC(7000 + UInt32(index)))]
                    return media
                }
            }
        }
        for index in 0..<40 as Range<UInt32> {
            #expect(rig.video(1, ssrc: 7000 + index).packet?.ssrc == 0xC000 + index)
        }
        rig.advance(by: .milliseconds(750))
        let compounds = rig.compounds(to: .b)
        #expect(compounds.count > 1)
        #expect(compounds.allSatisfy { $0.bytes.count <= 1200 })
        #expect(Set(Self.senderReports(compounds).map(\.ssrc)).count == 40)
        #expect(Self.blocks(rig.compounds(to: .a)).count == 40)
    }
}
