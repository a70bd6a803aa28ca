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
        bytes.append(contentsOf: repeatElement(0, count: count))
    }

    /// Overwrites two bytes that were written before, typically a length that is known only now.
    package mutating func overwrite(_ value: UInt16, at offset: Int) {
        bytes[offset] = UInt8(truncatingIfNeeded: value >> 8)
        bytes[offset + 1] = UInt8(truncatingIfNeeded: value)
    }
}
