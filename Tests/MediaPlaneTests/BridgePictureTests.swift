import MediaPlane
import Primitives
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
            ssrc: 1002, UInt16(number), timestamp: UInt32(number) * 3_000, payloadType: BridgeRig.vp8, marker: true, payload: payload)
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
