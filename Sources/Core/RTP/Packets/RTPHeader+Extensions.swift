/// Header extension elements (RFC 8285).
extension RTPHeader {
    /// The profile bits of one-byte headers (RFC 8285 §4.2).
    private static let oneByteProfile: UInt16 = 0xBEDE
    /// The profile bits of two-byte headers without the four application bits (RFC 8285 §4.3).
    private static let twoByteProfile: UInt16 = 0x1000

    /// Where the data of the element with this id lies in `packet`, the one this header was parsed from.
    ///
    /// `nil` if there is no such element, the extension is of another profile, or an element before it runs past the end.
    package func extensionElement(_ id: UInt8, in packet: Span<UInt8>) -> Range<Int>? {
        guard !extensionRange.isEmpty else { return nil }
        if extensionProfile == Self.oneByteProfile { return oneByteElement(id, in: packet) }
        if extensionProfile & 0xFFF0 == Self.twoByteProfile { return twoByteElement(id, in: packet) }
        return nil
    }

    /// Turns an element into padding (RFC 8285 §4.1.2): the packet keeps its length, and receivers pass over it.
    ///
    /// - Parameters:
    ///   - data: Where the data of the element begin, as `extensionElement` returned it.
    ///   - count: How long they are.
    package func eraseElement(at data: Int, count: Int, in packet: inout MutableSpan<UInt8>) {
        let header = extensionProfile == Self.oneByteProfile ? 1 : 2
        for index in (data - header)..<(data + count) { packet[index] = 0 }
    }

    /// Four bits of id, four bits of length minus one (RFC 8285 §4.2).
    private func oneByteElement(_ id: UInt8, in packet: Span<UInt8>) -> Range<Int>? {
        var offset = extensionRange.lowerBound
        while offset < extensionRange.upperBound {
            let header = packet[offset]
            offset += 1
            // A zero byte is padding; id 0 with a length and id 15 end the search.
            if header == 0 { continue }
            let found = header >> 4
            guard found != 0, found != 15 else { return nil }
            let end = offset + Int(header & 0x0F) + 1
            guard end <= extensionRange.upperBound else { return nil }
            if found == id { return offset..<end }
            offset = end
        }
        return nil
    }

    /// A byte of id, a byte of length (RFC 8285 §4.3); id 0 is one byte of padding.
    private func twoByteElement(_ id: UInt8, in packet: Span<UInt8>) -> Range<Int>? {
        var offset = extensionRange.lowerBound
        while offset < extensionRange.upperBound {
            let found = packet[offset]
            offset += 1
            if found == 0 { continue }
            guard offset < extensionRange.upperBound else { return nil }
            let end = offset + 1 + Int(packet[offset])
            guard end <= extensionRange.upperBound else { return nil }
            if found == id { return (offset + 1)..<end }
            offset = end
        }
        return nil
    }
}
