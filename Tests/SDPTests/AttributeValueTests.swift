import Primitives
import SDP
import Testing

struct AttributeValueTests {
    @Test(arguments: [
        (
            "111 opus/48000/2", RTPMap(payloadType: PayloadType(111)!, name: "opus", clockRate: 48_000, channels: 2),
            "111 opus/48000/2"
        ),
        ("9 G722/8000/1", RTPMap(payloadType: PayloadType(9)!, name: "G722", clockRate: 8_000), "9 G722/8000"),
        ("96 VP8/90000", RTPMap(payloadType: PayloadType(96)!, name: "VP8", clockRate: 90_000), "96 VP8/90000"),
    ])
    func `rtpmaps are read and written`(_ value: String, _ map: RTPMap, _ written: String) {
        #expect(RTPMap(value) == map)
        #expect(map.value == written)
    }

    @Test(arguments: [
        "", "96", "96 ", "96 VP8", "96 VP8/", "96 VP8/x", "96 VP8/0", "128 VP8/90000", "-1 VP8/90000", "96 /90000",
        "96 opus/48000/0",
    ])
    func `a malformed rtpmap is none`(_ value: String) {
        #expect(RTPMap(value) == nil)
    }

    @Test(arguments: [
        (0, "PCMU", 8_000, 1), (8, "PCMA", 8_000, 1), (9, "G722", 8_000, 1), (10, "L16", 44_100, 2),
        (13, "CN", 8_000, 1),
        (34, "H263", 90_000, 1),
    ])
    func `static payload types need no rtpmap`(_ number: Int, _ name: String, _ clockRate: Int, _ channels: Int) throws
    {
        let type = try #require(PayloadType(number))
        #expect(RTPMap(static: type) == RTPMap(payloadType: type, name: name, clockRate: clockRate, channels: channels))
    }

    @Test(arguments: [1, 2, 19, 20, 30, 35, 96, 127])
    func `other payload types mean nothing by themselves`(_ number: Int) throws {
        #expect(RTPMap(static: try #require(PayloadType(number))) == nil)
    }

    @Test
    func `sources and groups of sources are read and written`() throws {
        let source = try #require(SourceAttribute("898908617 msid:stream track"))
        #expect(source == SourceAttribute(SSRC(898_908_617), Attribute("msid", "stream track")))
        #expect(source.value == "898908617 msid:stream track")
        #expect(SourceAttribute("4294967296 cname:x") == nil)
        let group = try #require(SourceGroup("FID 1 2"))
        #expect(group == SourceGroup(semantics: "FID", sources: [SSRC(1), SSRC(2)]))
        #expect(group.value == "FID 1 2")
        #expect(SourceGroup("FID 1 x") == nil)
    }

    @Test(
        arguments: [
            ("rtx", "apt=96", [96]), ("rtx", "rtx-time=3000; apt=97", [97]), ("RTX", "apt=200", []),
            ("rtx", "capt=96", []),
            ("red", "111/111", [111]), ("red", "111/63/9", [111, 63, 9]), ("opus", "apt=96", []),
        ] as [(String, String, [Int])])
    func `some codecs need others`(_ name: String, _ parameters: String, _ types: [Int]) {
        let codec = Codec(payloadType: PayloadType(99)!, name: name, clockRate: 90_000, parameters: parameters)
        var expected = PayloadTypeSet()
        for type in types { expected.insert(PayloadType(type)!) }
        #expect(codec.requiredPayloadTypes == expected)
    }

    @Test
    func `a codec whose base is gone goes too, and so on`() {
        let codecs = [
            Codec(payloadType: PayloadType(119)!, name: "rtx", clockRate: 90_000, parameters: "apt=118"),
            Codec(payloadType: PayloadType(118)!, name: "red", clockRate: 90_000, parameters: "96/120"),
            Codec(payloadType: PayloadType(96)!, name: "VP8", clockRate: 90_000),
        ]
        #expect(codecs.withoutOrphans() == [codecs[2]])
    }
}
