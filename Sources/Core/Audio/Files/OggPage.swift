package import Primitives

/// A page of an Ogg file (RFC 3533 §6), as offsets into the file.
///
///     "OggS" version flags granule position serial number page number checksum segments │ segment table │ segments …
///       4       1      1          8              4            4          4       1            0…255
package struct OggPage: Equatable, Sendable {
    /// Bytes of a page header without its segment table.
    package static let headerSize = 27
    /// The bytes of the checksum, which count as 0 while the checksum is calculated.
    package static let checksumRange = 22..<26

    /// Whether the first packet of the page continues the last one of the page before.
    package let isContinued: Bool
    /// Whether the page is the first one of its logical stream.
    package let isFirst: Bool
    /// Whether the page is the last one of its logical stream.
    package let isLast: Bool
    /// The position, as the codec defines it, that is reached when all packets that end on this page are decoded; `nil`
    /// if no packet ends on it.
    package let granulePosition: Int64?
    /// The logical stream that the page belongs to.
    package let serialNumber: UInt32
    /// The sequence number of the page within its logical stream.
    package let number: UInt32
    /// The place of the segment table in the file. It has one byte per segment, the segment's size; a packet ends with
    /// the first size below 255.
    package let segmentTable: Range<Int>
    /// The place of the segments in the file.
    package let body: Range<Int>

    /// Reads the page at `offset`, and checks its checksum.
    ///
    /// - Returns: `nil` if the file ends before the page does.
    /// - Throws: `noPage`, `wrongChecksum`, or `pageVersion`.
    package init?(in file: Span<UInt8>, at offset: Int) throws(SoundFileError) {
        guard file.count - offset >= Self.headerSize else { return nil }
        guard file[offset] == 0x4F, file[offset + 1] == 0x67, file[offset + 2] == 0x67, file[offset + 3] == 0x53 else {
            throw .noPage(byte: offset)
        }
        guard file[offset + 4] == 0 else {
            throw .pageVersion(file[offset + 4])
        }
        let flags = file[offset + 5]
        (isContinued, isFirst, isLast) = (flags & 1 != 0, flags & 2 != 0, flags & 4 != 0)
        let granule = file.littleEndian(at: offset + 6, 8)
        granulePosition = granule == .max ? nil : Int64(bitPattern: granule)
        serialNumber = UInt32(file.littleEndian(at: offset + 14, 4))
        number = UInt32(file.littleEndian(at: offset + 18, 4))
        let start = offset + Self.headerSize
        let end = start + Int(file[offset + 26])
        guard end <= file.count else { return nil }
        segmentTable = start..<end
        var size = 0
        for index in segmentTable { size += Int(file[index]) }
        guard end + size <= file.count else { return nil }
        body = end..<(end + size)
        let checksum = UInt32(file.littleEndian(at: offset + Self.checksumRange.lowerBound, 4))
        guard Self.checksum(of: file.extracting(offset..<body.upperBound)) == checksum else {
            throw .wrongChecksum(byte: offset)
        }
    }

    /// The checksum of a page: CRC-32 with the polynomial 0x04C11DB7, starting with 0 and not reflected (RFC 3533 §6).
    package static func checksum(of page: Span<UInt8>) -> UInt32 {
        var sum: UInt32 = 0
        for index in page.indices {
            let byte = checksumRange.contains(index) ? 0 : page[index]
            sum = sum << 8 ^ table[Int(UInt8(sum >> 24) ^ byte)]
        }
        return sum
    }

    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte) << 24) { sum, _ in sum & 0x8000_0000 != 0 ? sum << 1 ^ 0x04C1_1DB7 : sum << 1 }
    }
}

extension Span where Element == UInt8 {
    /// A little-endian number of `count` bytes, at most eight, all of which must lie within the span.
    func littleEndian(at offset: Int, _ count: Int) -> UInt64 {
        var number: UInt64 = 0
        for index in 0..<count { number |= UInt64(self[offset + index]) << UInt64(8 * index) }
        return number
    }
}
