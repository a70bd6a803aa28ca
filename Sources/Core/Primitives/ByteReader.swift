/// Reads big-endian fields from borrowed bytes, never past their end.
///
/// Every read checks the length first and returns `nil` when the bytes do not suffice; the parser that
/// asked turns that into its own error. A reader cannot outlive the bytes it reads.
package struct ByteReader: ~Escapable {
    @usableFromInline
    package let bytes: Span<UInt8>
    /// The index of the next byte to be read.
    @usableFromInline
    package var offset: Int

    @_lifetime(copy bytes)
    @inlinable
    package init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
        self.offset = 0
    }

    @inlinable
    package var remaining: Int { bytes.count - offset }

    @inlinable
    package mutating func readUInt8() -> UInt8? {
        guard remaining >= 1 else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    @inlinable
    package mutating func readUInt16() -> UInt16? {
        guard remaining >= 2 else { return nil }
        defer { offset += 2 }
        return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
    }

    /// Three bytes, as RTCP's cumulative loss and sizes in several headers use them.
    @inlinable
    package mutating func readUInt24() -> UInt32? {
        guard remaining >= 3 else { return nil }
        defer { offset += 3 }
        return UInt32(bytes[offset]) << 16 | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2])
    }

    @inlinable
    package mutating func readUInt32() -> UInt32? {
        guard let high = readUInt16() else { return nil }
        guard let low = readUInt16() else {
            offset -= 2
            return nil
        }
        return UInt32(high) << 16 | UInt32(low)
    }

    @inlinable
    package mutating func readUInt64() -> UInt64? {
        guard remaining >= 8, let high = readUInt32(), let low = readUInt32() else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }

    /// The next `count` bytes as a view into the same memory.
    @inlinable
    @_lifetime(copy self)
    package mutating func readSpan(_ count: Int) -> Span<UInt8>? {
        guard count >= 0, remaining >= count else { return nil }
        defer { offset += count }
        return bytes.extracting(offset..<(offset + count))
    }

    /// The next `count` bytes, copied.
    package mutating func readBytes(_ count: Int) -> [UInt8]? {
        guard let span = readSpan(count) else { return nil }
        return [UInt8](copying: span)
    }

    @inlinable
    package mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, remaining >= count else { return false }
        offset += count
        return true
    }
}

extension [UInt8] {
    /// A copy of borrowed bytes.
    package init(copying span: Span<UInt8>) {
        self.init()
        reserveCapacity(span.count)
        for index in span.indices { append(span[index]) }
    }
}
