/// Builds a message in network byte order.
package struct ByteWriter: Sendable {
    /// The bytes written so far.
    package private(set) var bytes: [UInt8]

    /// Makes an empty writer with memory for `capacity` bytes; it grows as needed.
    package init(reserving capacity: Int = 128) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    /// The number of bytes written so far.
    package var count: Int { bytes.count }

    /// Appends one byte.
    package mutating func write(_ value: UInt8) { bytes.append(value) }

    /// Appends two bytes in network order.
    package mutating func write(_ value: UInt16) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    /// Appends the low 24 bits of `value` in network order.
    package mutating func writeUInt24(_ value: UInt32) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 16))
        write(UInt16(truncatingIfNeeded: value))
    }

    /// Appends four bytes in network order.
    package mutating func write(_ value: UInt32) {
        write(UInt16(truncatingIfNeeded: value >> 16))
        write(UInt16(truncatingIfNeeded: value))
    }

    /// Appends eight bytes in network order.
    package mutating func write(_ value: UInt64) {
        write(UInt32(truncatingIfNeeded: value >> 32))
        write(UInt32(truncatingIfNeeded: value))
    }

    /// Appends bytes.
    package mutating func write(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    /// Appends a copy of borrowed bytes.
    package mutating func write(_ more: Span<UInt8>) {
        for index in more.indices { bytes.append(more[index]) }
    }

    /// Appends the text in UTF-8, without length or terminator.
    package mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Appends `count` zero bytes.
    package mutating func writeZeros(_ count: Int) {
        for _ in 0..<count { bytes.append(0) }
    }

    /// Removes everything after the first `length` bytes; the memory is kept.
    package mutating func truncate(to length: Int) { bytes.removeLast(bytes.count - length) }

    /// Returns what was written, and continues empty in the given memory of another message.
    package mutating func take(goingOnIn memory: consuming [UInt8]) -> [UInt8] {
        memory.removeAll(keepingCapacity: true)
        swap(&memory, &bytes)
        return memory
    }

    /// Overwrites two bytes that were written before, usually a length that was not known then.
    package mutating func overwrite(_ value: UInt16, at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: value >> 8)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
    }
}
