/// Builds a message in network byte order.
package struct ByteWriter: Sendable {
    package private(set) var bytes: [UInt8]

    package init(reserving capacity: Int = 128) {
        bytes = []
        bytes.reserveCapacity(capacity)
    }

    package var count: Int { bytes.count }

    package mutating func write(_ value: UInt8) { bytes.append(value) }

    package mutating func write(_ value: UInt16) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 8))
        bytes.append(UInt8(truncatingIfNeeded: value))
    }

    /// The low 24 bits of `value`.
    package mutating func writeUInt24(_ value: UInt32) {
        bytes.append(UInt8(truncatingIfNeeded: value >> 16))
        write(UInt16(truncatingIfNeeded: value))
    }

    package mutating func write(_ value: UInt32) {
        write(UInt16(truncatingIfNeeded: value >> 16))
        write(UInt16(truncatingIfNeeded: value))
    }

    package mutating func write(_ value: UInt64) {
        write(UInt32(truncatingIfNeeded: value >> 32))
        write(UInt32(truncatingIfNeeded: value))
    }

    package mutating func write(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    package mutating func write(_ more: Span<UInt8>) {
        for index in more.indices { bytes.append(more[index]) }
    }

    package mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    package mutating func writeZeros(_ count: Int) {
        for _ in 0..<count { bytes.append(0) }
    }

    /// Forgets what was written behind the first `length` bytes; their memory stays for what comes.
    package mutating func truncate(to length: Int) { bytes.removeLast(bytes.count - length) }

    /// Hands over what was written, and goes on empty in the memory of another message.
    package mutating func take(goingOnIn memory: consuming [UInt8]) -> [UInt8] {
        memory.removeAll(keepingCapacity: true)
        swap(&memory, &bytes)
        return memory
    }

    /// Overwrites two bytes that were written before, typically a length that is known only now.
    package mutating func overwrite(_ value: UInt16, at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: value >> 8)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
    }
}
