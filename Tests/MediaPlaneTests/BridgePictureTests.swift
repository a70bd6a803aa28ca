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
