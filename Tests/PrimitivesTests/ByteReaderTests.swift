import Primitives
import TestSupport
import Testing

@Suite struct ByteReaderTests {
    @Test func `fields are read in network order`() {
        let bytes: [UInt8] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20]
        var reader = ByteReader(bytes.span)
        #expect(reader.readUInt8() == 0x01)
        #expect(reader.readUInt16() == 0x0203)
        #expect(reader.readUInt24() == 0x040506)
        #expect(reader.readUInt32() == 0x0708_090A)
        #expect(reader.readUInt64() == 0x0B0C_0D0E_0F10_1112)
        #expect(reader.readBytes(2) == [19, 20])
        #expect(reader.remaining == 0)
    }

    @Test(arguments: 0...8)
    func `a read past the end gives nothing and moves nothing`(count: Int) {
        let bytes = [UInt8](repeating: 0xAA, count: count)
        var reader = ByteReader(bytes.span)
        let unchanged = { (offset: Int) in offset == 0 }
        if count < 1 { #expect(reader.readUInt8() == nil && unchanged(reader.offset)) }
        if count < 2 { #expect(reader.readUInt16() == nil && unchanged(reader.offset)) }
        if count < 3 { #expect(reader.readUInt24() == nil && unchanged(reader.offset)) }
        if count < 4 { #expect(reader.readUInt32() == nil && unchanged(reader.offset)) }
        if count < 8 { #expect(reader.readUInt64() == nil && unchanged(reader.offset)) }
        #expect(reader.readBytes(count + 1) == nil && unchanged(reader.offset))
        #expect(reader.readBytes(-1) == nil && unchanged(reader.offset))
        #expect(reader.readBytes(.max) == nil && unchanged(reader.offset))
        let skipped = (reader.skip(count + 1), reader.skip(-1), reader.skip(.max))
        #expect(skipped == (false, false, false) && unchanged(reader.offset))
        let all = reader.skip(count)
        #expect(all && reader.remaining == 0)
        #expect(reader.readBytes(0) == [])
    }

    @Test func `what is written is read again`() {
        var writer = ByteWriter(reserving: 0)
        writer.write(UInt16(0))
        writer.write(UInt8(0xFE))
        writer.writeUInt24(0xFF_123456)
        writer.write(UInt32(0x89AB_CDEF))
        writer.write(UInt64.max - 1)
        writer.write("é")
        writer.writeZeros(3)
        writer.write([1, 2, 3].span)
        writer.overwrite(0xBEEF, at: 0)
        #expect(writer.count == 26)
        var reader = ByteReader(writer.bytes.span)
        #expect(reader.readUInt16() == 0xBEEF)
        #expect(reader.readUInt8() == 0xFE)
        #expect(reader.readUInt24() == 0x123456)
        #expect(reader.readUInt32() == 0x89AB_CDEF)
        #expect(reader.readUInt64() == UInt64.max - 1)
        #expect(reader.readBytes(8) == [0xC3, 0xA9, 0, 0, 0, 1, 2, 3])
    }

    @Test(arguments: [1, 2] as [UInt64])
    func `random reads stay inside`(seed: UInt64) {
        print("seed \(seed)")
        var random = SeededRandomSource(seed: seed)
        for _ in 0..<2000 {
            let bytes = random.nextBytes(Int.random(in: 0...40, using: &random))
            var reader = ByteReader(bytes.span)
            for _ in 0..<12 {
                let before = reader.offset
                let wanted = Int.random(in: -2...12, using: &random)
                let read = reader.readBytes(wanted)
                let fits = wanted >= 0 && before + wanted <= bytes.count
                #expect(read == (fits ? Array(bytes[before..<(before + wanted)]) : nil))
                #expect(reader.offset == (fits ? before + wanted : before))
            }
        }
    }
}
