import MediaPlane
import Primitives
import RTP
import SDP
import TestSupport
import Testing

/// What a leg's statistics say of its video.
struct BridgePictureTests {
    /// A picture of one packet, 33 ms after the one before.
    private static func picture(_ number: Int, isKeyFrame: Bool = false, in rig: inout BridgeRig) {
        rig.advance(by: .milliseconds(33))
        let payload: [UInt8] = [0x90, 0x80, UInt8(number & 0x7F), isKeyFrame ? 0x50 : 0x51]
        let packet = BridgeRig.packet(
            ssrc: 1002, UInt16(number), timestamp: UInt32(number) * 3_000, payloadType: BridgeRig.vp8, marker: true,
            payload: payload)
        _ = rig.send(packet, from: .a)
    }

    private static func counts(_ rig: BridgeRig, _ side: LegIndex = .a, line: Int = 1) -> PictureCounts? {
        rig.bridge.statistics(of: side).lines[line].pictures
    }

    @Test func `pictures, key frames and freezes are those of the sender`() {
        var rig = BridgeRig()
        #expect(Self.counts(rig) == nil)
        for number in 1...20 { Self.picture(number, isKeyFrame: number == 1, in: &rig) }
        rig.advance(by: .milliseconds(400))
        for number in 21...30 { Self.picture(number, isKeyFrame: number == 25, in: &rig) }
        #expect(Self.counts(rig) == PictureCounts(frames: 30, keyFrames: 2, freezes: 1, frozen: .milliseconds(433)))
        #expect(Self.counts(rig, .b) == nil)
        #expect(Self.counts(rig, line: 0) == nil)
    }

    private static func waits(_ rig: BridgeRig) -> PictureWaits? { rig.bridge.statistics(of: .b).lines[1].waits }

    private static func askForKeyFrame(_ rig: inout BridgeRig) {
        rig.receive(.pictureLossIndication(.init(sender: SSRC(9), media: SSRC(0xB1))), from: .b)
    }

    @Test func `a receiver is frozen from its request for a key frame to the next one that is sent to it`() throws {
        var rig = BridgeRig()
        #expect(Self.waits(rig) == nil)
        Self.askForKeyFrame(&rig)
        for number in 1...20 { Self.picture(number, isKeyFrame: number == 1, in: &rig) }
        #expect(try #require(Self.waits(rig)).freezes == 0, "nothing was shown yet that it could miss")
        Self.askForKeyFrame(&rig)
        for number in 21...30 { Self.picture(number, in: &rig) }
        Self.askForKeyFrame(&rig)
        Self.picture(31, isKeyFrame: true, in: &rig)
        var waits = try #require(Self.waits(rig))
        #expect(waits.freezes == 1 && waits.frozen == .milliseconds(11 * 33))
        #expect(Self.counts(rig)?.freezes == 0, "the sender's pictures went on")
        // At once, and after a hold.
        Self.askForKeyFrame(&rig)
        Self.picture(32, isKeyFrame: true, in: &rig)
        rig.configure(.b) { $0.media[1].direction = .inactive }
        rig.configure(.b)
        Self.askForKeyFrame(&rig)
        rig.advance(by: .seconds(1))
        Self.picture(33, isKeyFrame: true, in: &rig)
        waits = try #require(Self.waits(rig))
        #expect(waits.freezes == 1 && waits.frozen == .milliseconds(11 * 33))
        #expect(rig.bridge.statistics(of: .b).lines[0].waits == nil)
    }

    @Test func `who asks no more has got what it needs`() throws {
        var waits = PictureWaits()
        let start = MonotonicTime(nanoseconds: 9_000_000_000)
        waits.keyFrameSent(at: start)
        for milliseconds in [0, 500, 1_000] { waits.keyFrameRequested(at: start + .milliseconds(milliseconds)) }
        waits.keyFrameSent(at: start + .seconds(60))
        #expect(waits.freezes == 1 && waits.frozen == .seconds(1))
        waits.keyFrameRequested(at: start + .seconds(61))
        waits.keyFrameRequested(at: start + .milliseconds(61_400))
        waits.keyFrameRequested(at: start + .seconds(70))
        waits.keyFrameSent(at: start + .milliseconds(70_200))
        #expect(waits.freezes == 3 && waits.frozen == .milliseconds(1_600))
    }

    // MARK: Packets that a receiver misses

    /// A picture that does not come to the gateway.
    private static func lose(_: Int, in rig: inout BridgeRig) { rig.advance(by: .milliseconds(33)) }

    /// The first picture; returns the gateway's number of it.
    private static func shown(_ rig: inout BridgeRig) throws -> UInt16 {
        let first = BridgeRig.packet(
            ssrc: 1002, 1, timestamp: 3_000, payloadType: BridgeRig.vp8, marker: true,
            payload: [0x90, 0x80, 1, 0x50])
        return try #require(rig.send(first, from: .a).packet).sequenceNumber
    }

    @Test func `a receiver is frozen while a packet that it asks for does not come, up to what it said last`() throws {
        var rig = BridgeRig()
        let first = try Self.shown(&rig)
        for number in 2...20 { Self.picture(number, in: &rig) }
        Self.lose(21, in: &rig)
        for number in 22...40 {
            Self.picture(number, in: &rig)
            rig.reportLost([first + 20])
        }
        // Asked for 19 times, 33 ms apart, and never repeated by its sender.
        var waits = try #require(Self.waits(rig))
        #expect(waits.freezes == 1 && waits.frozen == .milliseconds(18 * 33), "it goes on")
        rig.advance(by: .seconds(2))
        #expect(Self.waits(rig) == waits, "it says no more")
        // The decoder has given up: that is the same freeze.
        Self.askForKeyFrame(&rig)
        waits = try #require(Self.waits(rig))
        #expect(waits.freezes == 1 && waits.frozen == .milliseconds(18 * 33 + 2_000))
        Self.picture(41, isKeyFrame: true, in: &rig)
        waits = try #require(Self.waits(rig))
        #expect(waits.freezes == 1 && waits.frozen == .milliseconds(19 * 33 + 2_000))
        Self.picture(42, in: &rig)
        rig.reportLost([first + 20])
        rig.reportLost([first + 45])
        #expect(Self.waits(rig)?.frozen == waits.frozen, "before the key frame, and never sent")
    }

    @Test(arguments: [true, false])
    func `a freeze ends with the packet that was missed, as a retransmission or late`(_ isRetransmission: Bool) throws {
        var rig = BridgeRig()
        let first = try Self.shown(&rig)
        for number in 2...20 { Self.picture(number, in: &rig) }
        Self.lose(21, in: &rig)
        Self.picture(22, in: &rig)
        rig.reportLost([first + 20])
        for number in 23...32 { Self.picture(number, in: &rig) }
        let isSent =
            isRetransmission
            ? rig.retransmission(1, of: 21).packet != nil : rig.video(21, timestamp: 63_000).packet != nil
        #expect(isSent)
        let waits = try #require(Self.waits(rig))
        #expect(waits.freezes == 1 && waits.frozen == .milliseconds(330))
        rig.advance(by: .milliseconds(500))
        Self.picture(48, isKeyFrame: true, in: &rig)
        #expect(Self.waits(rig)?.frozen == .milliseconds(330), "nothing was missed any more")
    }

    @Test func `packets that come again soon freeze nobody, however many`() throws {
        var rig = BridgeRig()
        let first = try Self.shown(&rig)
        for number in 2...700 as ClosedRange<UInt16> {
            Self.picture(Int(number), in: &rig)
            rig.reportLost([first + number - 2, first + number - 1])
        }
        #expect(Self.waits(rig)?.freezes == 0)
        #expect(rig.repetitions(to: .b).count > 600)
        // Who was told of many still tells of the next one that does not come.
        Self.lose(701, in: &rig)
        for number in 702...710 {
            Self.picture(number, in: &rig)
            rig.reportLost([first + 700])
        }
        #expect(Self.waits(rig)?.freezes == 1)
    }

    /// Nothing came to the receiver for two seconds, which it could not say meanwhile.
    @Test func `what was forgotten before it was asked for was missed since a round trip after it was sent`() throws {
        var rig = BridgeRig()
        let first = try Self.shown(&rig)
        Self.measureRoundTrip(.milliseconds(50), in: &rig)
        for number in 2...60 { Self.picture(number, in: &rig) }
        rig.reportLost((1..<58).map { first + $0 })
        let waits = try #require(Self.waits(rig))
        #expect(waits.freezes == 1)
        // Since the second picture.
        #expect(waits.frozen == .milliseconds(58 * 33 - 50))
    }

    /// Peer b answers the gateway's next report so late.
    private static func measureRoundTrip(_ duration: Duration, in rig: inout BridgeRig) {
        _ = rig.compounds(to: .b)
        while let next = rig.bridge.nextDeadline {
            rig.advance(by: next.time - rig.clock.now)
            for case .senderReport(let report) in rig.compounds(to: .b).flatMap(\.packets)
            where report.ssrc == SSRC(0xB1) {
                rig.advance(by: duration)
                let block = ReportBlock(
                    ssrc: SSRC(0xB1), fractionLost: 0, cumulativeLost: 0, jitter: 0,
                    lastSenderReport: report.ntp.compact, delaySinceLastSenderReport: 0)
                return rig.receive(.receiverReport(ReceiverReport(ssrc: SSRC(9), blocks: [block])), from: .b)
            }
        }
    }

    @Test func `a request for a key frame that nobody answers is a freeze that goes on`() throws {
        var rig = BridgeRig()
        for number in 1...20 { Self.picture(number, isKeyFrame: number == 1, in: &rig) }
        for number in 21...40 {
            Self.askForKeyFrame(&rig)
            Self.picture(number, in: &rig)
        }
        var waits = try #require(Self.waits(rig))
        #expect(waits.freezes == 1 && waits.frozen == .milliseconds(19 * 33))
        // On hold it is over, and what was counted stays.
        rig.configure(.b) { $0.media[1].direction = .inactive }
        rig.configure(.b)
        rig.advance(by: .seconds(2))
        Self.picture(41, isKeyFrame: true, in: &rig)
        waits = try #require(Self.waits(rig))
        #expect(waits.freezes == 1 && waits.frozen == .milliseconds(19 * 33))
    }

    @Test func `a call on hold is not frozen`() {
        var rig = BridgeRig()
        for number in 1...20 { Self.picture(number, in: &rig) }
        rig.configure(.a) { $0.media[1].direction = .inactive }
        rig.advance(by: .seconds(3))
        rig.configure(.a)
        for number in 21...30 { Self.picture(number, in: &rig) }
        #expect(Self.counts(rig) == PictureCounts(frames: 30, keyFrames: 0, freezes: 0, frozen: .zero))
    }
}
