internal import CZlib

/// Compresses messages for `permessage-deflate` (RFC 7692 §7.2.1).
///
/// It takes 2^(`windowBits` + 2) + 2^(`memoryLevel` + 9) bytes: 256 KiB at most.
@safe
package struct Deflater: ~Copyable {
    /// The sizes of the window, as binary logarithms of bytes, that zlib can write without a header. RFC 7692 also has
    /// 8, with which zlib starts no raw stream.
    package static let windowSizes = 9...15

    private let stream: UnsafeMutablePointer<z_stream>

    /// Makes a compressor with an empty window.
    ///
    /// - Parameters:
    ///   - windowBits: the binary logarithm of the window in bytes, one of ``windowSizes``.
    ///   - memoryLevel: 1 (least memory) to 9; 8 is the choice of zlib.
    package init(windowBits: Int, memoryLevel: Int = 8) {
        precondition(Self.windowSizes.contains(windowBits) && (1...9).contains(memoryLevel), "zlib has such a stream")
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let result = unsafe orbweaver_deflate_init(stream, Int32(windowBits), Int32(memoryLevel))
        precondition(result == Z_OK, "zlib has memory for a stream")
    }

    deinit {
        _ = unsafe deflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Compresses one message. Without ``reset()`` before it, it may refer to the messages before it.
    ///
    /// - Parameter bytes: the message, not empty.
    /// - Returns: the payload of its frame; without the four bytes that end each of them (RFC 7692 §7.2.1).
    package mutating func compress(_ bytes: Span<UInt8>) -> [UInt8] {
        precondition(!bytes.isEmpty, "an empty message is not compressed")
        let stream = unsafe stream
        // The bound is that of one stream; each message ends with a flush, which takes a few bytes more.
        let bound = Int(unsafe deflateBound(stream, UInt(bytes.count))) + 16
        return unsafe bytes.withUnsafeBufferPointer { input in
            unsafe [UInt8](unsafeUninitializedCapacity: bound) { output, count in
                // zlib reads its input and does not change it.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)
                unsafe stream.pointee.avail_in = UInt32(input.count)
                unsafe stream.pointee.next_out = output.baseAddress
                unsafe stream.pointee.avail_out = UInt32(bound)
                let result = unsafe deflate(stream, Z_SYNC_FLUSH)
                let left = unsafe Int(stream.pointee.avail_out)
                precondition(result == Z_OK && left > 0, "the bound suffices")
                count = bound - left - Self.flushMarker
            }
        }
    }

    /// Forgets the messages before.
    package mutating func reset() { _ = unsafe deflateReset(stream) }

    /// The length of the empty block that ends a flush, 00 00 FF FF.
    private static let flushMarker = 4
}
