import Primitives
import Testing

struct FowlerNollVoTests {
    /// RFC 9923 §8.2, and the parameters' own test vectors.
    @Test(
        arguments: [
            ("", 0xCBF2_9CE4_8422_2325), ("a", 0xAF63_DC4C_8601_EC8C), ("foobar", 0x8594_4171_F739_67E8),
        ] as [(String, UInt64)])
    func `the value is that of the published vectors`(_ text: String, _ value: UInt64) {
        #expect(FowlerNollVo(text).value == value)
    }

    @Test func `parts make what the whole makes`() {
        var parts = FowlerNollVo("foo")
        parts.combine("bar")
        #expect(parts == FowlerNollVo("foobar"))
    }
}
