/// Bytes that wait, first in first out. What was taken is freed in large pieces.
struct ByteQueue: Equatable, Sendable {
    /// Bytes at the front that were taken, before they are freed.
    private static let slack = 65_536

    private var bytes: [UInt8] = []
    private var start = 0

    static func == (a: Self, b: Self) -> Bool { a.bytes[a.start...].elementsEqual(b.bytes[b.start...]) }

    var count: Int { bytes.count - start }

    mutating func append(_ more: ArraySlice<UInt8>) { bytes.append(contentsOf: more) }

    /// Takes the first `size` bytes, all of which must be there.
    mutating func removeFirst(_ size: Int) -> [UInt8] {
        let taken = Array(bytes[start..<start + size])
        start += size
        if start == bytes.count {
            removeAll()
        } else if start >= Self.slack {
            bytes.removeFirst(start)
            start = 0
        }
        return taken
    }

    mutating func removeAll() {
        bytes.removeAll(keepingCapacity: bytes.count <= Self.slack)
        start = 0
    }
}
