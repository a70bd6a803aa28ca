/// Reads big-endian fields from borrowed bytes, never past their end.
///
/// Every read checks the length first, and returns `nil` if there are too few bytes; the position stays then. The
/// parser turns that into an error of its own. A reader cannot outlive the bytes that it reads.
package struct ByteReader: ~Escapable {
    /// The bytes that are read.
    @usableFromInline
    package let bytes: Span<UInt8>
    /// The index of the next byte to be read.
    @usableFromInline
    package var offset: Int

    /// Makes a reader at the first byte.
    @_lifetime(copy bytes)
    @inlinable
    package init(_ bytes: Span<UInt8>) {
        self.bytes = bytes
        self.offset = 0
    }

    /// The number of bytes that are left.
    @inlinable
    package var remaining: Int { bytes.count - offset }

    /// Reads one byte.
    @inlinable
    package mutating func readUInt8() -> UInt8? {
        guard remaining >= 1 else { return nil }
        defer { offset += 1 }
        return bytes[offset]
    }

    /// Reads two bytes in network order.
    @inlinable
    package mutating func readUInt16() -> UInt16? {
        guard remaining >= 2 else { return nil }
        defer { offset += 2 }
        return UInt16(bytes[offset]) << 8 | UInt16(bytes[offset + 1])
    }

    /// Reads three bytes in network order. RTCP's cumulative loss and sizes in several headers have this form.
    @inlinable
    package mutating func readUInt24() -> UInt32? {
        guard remaining >= 3 else { return nil }
        defer { offset += 3 }
        return UInt32(bytes[offset]) << 16 | UInt32(bytes[offset + 1]) << 8 | UInt32(bytes[offset + 2])
    }

    /// Reads four bytes in network order.
    @inlinable
    package mutating func readUInt32() -> UInt32? {
        guard let high = readUInt16() else { return nil }
        guard let low = readUInt16() else {
            offset -= 2
            return nil
        }
        return UInt32(high) << 16 | UInt32(low)
    }

    /// Reads eight bytes in network order.
    @inlinable
    package mutating func readUInt64() -> UInt64? {
        guard remaining >= 8, let high = readUInt32(), let low = readUInt32() else { return nil }
        return UInt64(high) << 32 | UInt64(low)
    }

    /// The next `count` bytes as a view into the same memory; `nil` if there are fewer.
    @inlinable
    @_lifetime(copy self)
    package mutating func readSpan(_ count: Int) -> Span<UInt8>? {
        guard count >= 0, remaining >= count else { return nil }
        defer { offset += count }
        return bytes.extracting(offset..<(offset + count))
    }

    /// The next `count` bytes, copied; `nil` if there are fewer.
    package mutating func readBytes(_ count: Int) -> [UInt8]? {
        guard let span = readSpan(count) else { return nil }
        return [UInt8](copying: span)
    }

    /// Skips `count` bytes; `false` if there are fewer.
    @inlinable
    package mutating func skip(_ count: Int) -> Bool {
        guard count >= 0, remaining >= count else { return false }
        offset += count
        return true
    }
}

extension [UInt8] {
    /// Makes a copy of borrowed bytes.
    package init(copying span: Span<UInt8>) {
        self.init()
        reserveCapacity(span.count)
        for index in span.indices { append(span[index]) }
    }
}
