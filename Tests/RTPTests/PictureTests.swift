import Primitives
import RTP
import TestSupport
import Testing

struct PictureFormatTests {
    @Test(
        arguments: [
            // VP8: S and PID 0, then P of the frame's header.
            (.vp8, [0x10, 0x00], true), (.vp8, [0x10, 0x01], false), (.vp8, [0x00, 0x00], false),
            (.vp8, [0x11, 0x00], false),
            // As libwebrtc sends it: a PictureID of two bytes; then of one; then with TL0PICIDX and TID.
            (.vp8, [0x90, 0x80, 0x92, 0x34, 0x50], true), (.vp8, [0x90, 0x80, 0x12, 0x50], true),
            (.vp8, [0x90, 0x80, 0x12, 0x51], false),
            (.vp8, [0x90, 0xE0, 0x92, 0x34, 1, 0x40, 0x50], true),
            (.vp8, [0x90, 0xE0, 0x92, 0x34, 1, 0x40, 0x51], false),
            (.vp8, [], false), (.vp8, [0x10], false), (.vp8, [0x90], false), (.vp8, [0x90, 0x80], false),
            (.vp8, [0x90, 0x80, 0x92, 0x34], false),
            // VP9: B without P; upper spatial layers of the same picture do not count.
            (.vp9, [0x08], true), (.vp9, [0x48], false), (.vp9, [0x00], false), (.vp9, [0x88, 0x92, 0x34], true),
            (.vp9, [0xA8, 0x92, 0x34, 0x00, 0], true), (.vp9, [0xA8, 0x92, 0x34, 0x02, 0], false),
            (.vp9, [0xA8, 0x12, 0x01, 0], true),
            (.vp9, [0x28, 0x10, 0], true), (.vp9, [0x28], false), (.vp9, [0xA8], false),
            (.vp9, [0xA8, 0x92, 0x34], false), (.vp9, [], false),
            // H.264: IDR alone, in STAP-A behind its parameter sets, as the beginning of FU-A.
            (.h264, [0x65, 1], true), (.h264, [0x41, 1], false), (.h264, [0x67, 1], false),
            (.h264, [0x78, 0, 2, 0x67, 1, 0, 2, 0x68, 1, 0, 2, 0x65, 1], true),
            (.h264, [0x78, 0, 2, 0x67, 1, 0, 2, 0x68, 1], false),
            (.h264, [0x78, 0xFF, 0xFF, 0x67, 0, 2, 0x65], false), (.h264, [0x78, 0, 0, 0, 1, 0x65], true),
            (.h264, [0x78, 0], false),
            (.h264, [0x7C, 0x85, 1], true), (.h264, [0x7C, 0x05, 1], false), (.h264, [0x7C, 0x81, 1], false),
            (.h264, [0x7C], false), (.h264, [], false),
            // AV1: N.
            (.av1, [0x18, 0x0A], true), (.av1, [0x10, 0x32], false), (.av1, [], false),
        ] as [(PictureFormat, [UInt8], Bool)])
    func `key frames are known by what is in front of them`(
        _ format: PictureFormat, _ payload: [UInt8], _ isKeyFrame: Bool
    ) {
        let found = format.startsKeyFrame(payload.span)
        #expect(found == isKeyFrame)
    }

    @Test(
        arguments: [("VP8", .vp8), ("vp9", .vp9), ("H264", .h264), ("AV1", .av1), ("rtx", nil), ("opus", nil)]
            as [(String, PictureFormat?)])
    func `formats have names`(_ name: String, _ format: PictureFormat?) {
        #expect(PictureFormat(encodingName: name) == format)
    }

    @Test(arguments: [2, 29, 31] as [UInt64])
    func `no payload is too strange`(_ seed: UInt64) {
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<20_000 {
            let payload = (0..<Int(random.next() % 24)).map { _ in UInt8(truncatingIfNeeded: random.next() >> 13) }
            for format in [PictureFormat.vp8, .vp9, .h264, .av1] { _ = format.startsKeyFrame(payload.span) }
        }
    }
}

struct PictureStatisticsTests {
    /// Pictures of two packets each, so many milliseconds after the one before.
    private static func statistics(_ intervals: [Int], keyFrames: Set<Int> = []) -> PictureStatistics {
        var statistics = PictureStatistics()
        var clock = VirtualClock()
        for (number, interval) in ([0] + intervals).enumerated() {
            clock.advance(by: .milliseconds(interval))
            for _ in 0..<2 {
                statistics.packetReceived(
                    from: SSRC(1), timestamp: RTPTimestamp(.max) + number * 3_000,
                    startsKeyFrame: keyFrames.contains(number), at: clock.now)
            }
        }
        return statistics
    }

    private static func steady(_ count: Int, every interval: Int = 33) -> [Int] {
        Array(repeating: interval, count: count)
    }

    @Test(arguments: [
        ("steady", steady(60), 0, 0),
        ("a freeze", steady(30) + [200] + steady(30), 1, 200),
        ("not quite", steady(30) + [182] + steady(30), 0, 0),
        ("just so", steady(30) + [183] + steady(30), 1, 183),
        ("slow pictures are no freezes", steady(30, every: 200) + [599], 0, 0),
        ("three times the mean", steady(30, every: 200) + [600], 1, 600),
        ("before a mean is known", steady(4) + [1_000] + steady(9), 0, 0),
        ("wanted pauses are none", steady(30) + [5_001] + steady(30), 0, 0),
        ("but they begin anew", steady(30) + [5_001] + steady(4) + [400], 0, 0),
        ("two", steady(30) + [300] + steady(30) + [300], 2, 600),
        ("only the last thirty count", steady(100, every: 400) + steady(30) + [200], 1, 200),
    ])
    func `pictures that stand still are counted`(_ name: String, _ intervals: [Int], _ freezes: Int, _ frozen: Int) {
        let statistics = Self.statistics(intervals)
        #expect(statistics.frames == UInt64(intervals.count + 1))
        #expect(statistics.freezes == UInt64(freezes))
        #expect(statistics.frozen == .milliseconds(frozen))
    }

    @Test func `a key frame counts once, whatever is said of it`() {
        #expect(Self.statistics(Self.steady(9), keyFrames: [0, 5]).keyFrames == 2)
    }

    @Test func `packets of earlier pictures are no pictures`() {
        var statistics = Self.statistics(Self.steady(9))
        statistics.packetReceived(
            from: SSRC(1), timestamp: RTPTimestamp(.max) + 2 * 3_000, startsKeyFrame: false, at: .zero)
        #expect(statistics.frames == 10)
    }

    @Test func `nobody is missed who was held`() {
        var statistics = Self.statistics(Self.steady(30))
        statistics.restart()
        statistics.packetReceived(
            from: SSRC(1), timestamp: RTPTimestamp(5), startsKeyFrame: true, at: .zero + .seconds(4))
        #expect(statistics.freezes == 0 && statistics.frames == 32)
    }
}
