internal import CZlib

/// Decompresses messages of `permessage-deflate` (RFC 7692 §7.2.2) that do not refer to each other.
///
/// It takes some 40 KiB.
@safe
package struct Inflater: ~Copyable {
    /// Why a message cannot be decompressed.
    package enum Fault: Error, Equatable, Sendable {
        /// It is no DEFLATE data, refers to bytes before the message, or is cut off.
        case malformed
        /// It has more bytes than allowed. No more than these have been decompressed.
        case tooLarge
    }

    private let stream: UnsafeMutablePointer<z_stream>

    /// Makes a decompressor for every size of window.
    package init() {
        unsafe stream = .allocate(capacity: 1)
        unsafe stream.initialize(to: z_stream())
        let result = unsafe orbweaver_inflate_init(stream, 15)
        precondition(result == Z_OK, "zlib has memory for a stream")
    }

    deinit {
        _ = unsafe inflateEnd(stream)
        unsafe stream.deallocate()
    }

    /// Decompresses a whole message.
    ///
    /// - Parameters:
    ///   - payload: the payload of all its frames.
    ///   - limit: how many bytes it may have, at least 1.
    /// - Throws: ``Fault``.
    package mutating func decompress(_ payload: Span<UInt8>, limit: Int) throws(Fault) -> [UInt8] {
        precondition(limit >= 1, "a message may have a byte")
        // An empty message has a payload of one byte (RFC 7692 §7.2.3.6); none at all can mean nothing else.
        guard !payload.isEmpty else { return [] }
        _ = unsafe inflateReset(stream)
        // What the sender has taken away (RFC 7692 §7.2.2).
        var input: [UInt8] = []
        input.reserveCapacity(payload.count + 4)
        for index in payload.indices { input.append(payload[index]) }
        input += [0x00, 0x00, 0xFF, 0xFF]
        var output: [UInt8] = []
        var taken = 0
        var endsWithBlock = false
        while true {
            let before = taken
            // One byte more than allowed tells whether there is more.
            let room = min(Self.step, limit + 1 - output.count)
            let (result, count) = take(input.span, &taken, into: &output, room)
            guard output.count <= limit else { throw .tooLarge }
            // zlib says so in bit 7, until it is called again.
            if taken > before || count > 0 { endsWithBlock = unsafe stream.pointee.data_type & 128 != 0 }
            switch result {
            case Z_STREAM_END:
                // The sender marked a block as the last one (RFC 7692 §7.2.3.5); what follows starts anew.
                guard taken < input.count else { return output }
                _ = unsafe inflateReset(stream)
            case Z_OK, Z_BUF_ERROR:
                if count == room { continue }
                guard taken == input.count, endsWithBlock else { throw .malformed }
                return output
            default: throw .malformed
            }
        }
    }

    /// Decompresses until the room is full, the input taken or a stream at its end. Returns zlib's result and the
    /// number of bytes made.
    private mutating func take(_ input: Span<UInt8>, _ taken: inout Int, into output: inout [UInt8], _ room: Int) -> (
        result: Int32, count: Int
    ) {
        let stream = unsafe stream
        var result = Z_OK
        let made = unsafe input.withUnsafeBufferPointer { input in
            unsafe [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                // zlib reads its input and does not change it.
                unsafe stream.pointee.next_in = UnsafeMutablePointer(mutating: input.baseAddress)?.advanced(by: taken)
                unsafe stream.pointee.avail_in = UInt32(input.count - taken)
                unsafe stream.pointee.next_out = buffer.baseAddress
                unsafe stream.pointee.avail_out = UInt32(room)
                result = unsafe inflate(stream, Z_SYNC_FLUSH)
                taken = unsafe input.count - Int(stream.pointee.avail_in)
                count = unsafe room - Int(stream.pointee.avail_out)
            }
        }
        output += made
        return (result, made.count)
    }

    private static let step = 4_096
}
