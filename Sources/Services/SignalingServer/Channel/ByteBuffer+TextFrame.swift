import NIOCore

extension ByteBuffer {
    /// The most bytes in front of the text of a frame.
    private static let longestTextHeader = 10

    /// Writes a message of text in one frame, as servers send it: without a mask (RFC 6455 §5.2).
    mutating func writeTextFrame(_ text: [UInt8]) {
        reserveCapacity(minimumWritableBytes: text.count + Self.longestTextHeader)
        writeTextFrameHeader(text.count)
        writeBytes(text)
    }

    /// The same, of what can be read in a buffer.
    mutating func writeTextFrame(_ text: ByteBuffer) {
        reserveCapacity(minimumWritableBytes: text.readableBytes + Self.longestTextHeader)
        writeTextFrameHeader(text.readableBytes)
        writeImmutableBuffer(text)
    }

    private mutating func writeTextFrameHeader(_ count: Int) {
        writeInteger(UInt8(0x81))
        switch count {
        case ...125: writeInteger(UInt8(count))
        case ...0xFFFF: writeMultipleIntegers(UInt8(126), UInt16(count))
        default: writeMultipleIntegers(UInt8(127), UInt64(count))
        }
    }
}
