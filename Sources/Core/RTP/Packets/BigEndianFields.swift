/// Fields at fixed offsets in network byte order, for headers whose length has been checked.
///
/// Always inlined: a relayed packet needs a dozen of them, and a call costs more than the access.
extension Span<UInt8> {
    @inline(__always)
    func bigEndian16(at offset: Int) -> UInt16 {
        UInt16(self[offset]) << 8 | UInt16(self[offset + 1])
    }

    @inline(__always)
    func bigEndian32(at offset: Int) -> UInt32 {
        UInt32(bigEndian16(at: offset)) << 16 | UInt32(bigEndian16(at: offset + 2))
    }
}

extension MutableSpan<UInt8> {
    @inline(__always)
    mutating func setBigEndian16(_ value: UInt16, at offset: Int) {
        self[offset] = UInt8(truncatingIfNeeded: value >> 8)
        self[offset + 1] = UInt8(truncatingIfNeeded: value)
    }

    @inline(__always)
    mutating func setBigEndian32(_ value: UInt32, at offset: Int) {
        setBigEndian16(UInt16(truncatingIfNeeded: value >> 16), at: offset)
        setBigEndian16(UInt16(truncatingIfNeeded: value), at: offset + 2)
    }
}
