import Primitives
import Testing

@Suite struct ByteWriterTests {
    @Test func `what was written behind a length is forgotten`() {
        var writer = ByteWriter()
        writer.write(UInt32(0x0102_0304))
        writer.truncate(to: 1)
        writer.write(UInt16(0x0506))
        #expect(writer.bytes == [1, 5, 6])
    }

    @Test
    func
        `a message that is handed over leaves nothing in the next one, and neither does the memory that it is written in`()
    {
        var writer = ByteWriter()
        writer.write(UInt16(0x0102))
        #expect(writer.take(goingOnIn: [9, 9, 9]) == [1, 2])
        #expect(writer.bytes.isEmpty)
        writer.write(UInt8(3))
        #expect(writer.take(goingOnIn: []) == [3])
        #expect(writer.bytes.isEmpty)
    }
}
