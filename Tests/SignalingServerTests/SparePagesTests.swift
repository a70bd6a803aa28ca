import EventLoops
import NIOCore
import Testing

@Suite struct `Spare pages` {
    @Test(arguments: [0, 1, 100, 4_096, 20_000, 65_536])
    func `what was written stays, what lies behind it is given back`(_ length: Int) {
        var bytes = ByteBufferAllocator().buffer(capacity: 65_536)
        bytes.writeRepeatingByte(0xAB, count: bytes.capacity)
        let capacity = bytes.capacity
        bytes.clear()
        bytes.writeRepeatingByte(0xCD, count: length)
        bytes.releaseSparePages()
        #expect(bytes.readableBytesView.allSatisfy { $0 == 0xCD })
        bytes.moveWriterIndex(to: capacity)
        // Whole pages only: the last one before the end may be shared with whatever follows in memory.
        let spare = bytes.readableBytesView.dropFirst(length + 4_096).dropLast(4_096)
        #expect(spare.allSatisfy { $0 == 0 })
        bytes.clear()
        bytes.writeRepeatingByte(0xEF, count: capacity)
        #expect(bytes.readableBytesView.allSatisfy { $0 == 0xEF })
    }
}
