/// Splits a byte stream into frames (RFC 4571 §2). RFC 6544 prescribes them for every packet on an ICE connection.
///
///     | length, 2 bytes | packet … | length, 2 bytes | packet … |
///
/// The only memory is a buffer for one incomplete frame, allocated once.
package struct FrameReader: Sendable {
    /// The bytes of the length field before each packet.
    package static let headerSize = 2

    private let maximumLength: Int
    /// The first bytes of an incomplete frame, including its header.
    private var partial: [UInt8]
    private var held = 0

    /// Makes a reader at the start of a stream.
    ///
    /// - Parameter maximumLength: The most bytes of a packet, 1…65,535. A longer one is an error of the stream.
    package init(maximumLength: Int) {
        precondition((1...Int(UInt16.max)).contains(maximumLength), "a length has 16 bits")
        self.maximumLength = maximumLength
        partial = [UInt8](repeating: 0, count: Self.headerSize + maximumLength)
    }

    /// Takes bytes of `input` from `offset` on, up to the end of the next frame, and writes the packet of the frame to
    /// the start of `packet`.
    ///
    /// - Parameters:
    ///   - input: The bytes that have come.
    ///   - offset: The next byte of `input`; it is moved behind those taken.
    ///   - packet: A buffer of at least `maximumLength` bytes.
    /// - Returns: The length of the packet, which may be 0 (a null packet, RFC 4571 §2); `nil` if the input is used up.
    /// - Throws: `.frameTooLong`. The stream cannot be read any further then.
    package mutating func next(in input: Span<UInt8>, at offset: inout Int, into packet: inout MutableSpan<UInt8>)
        throws(FramingError) -> Int?
    {
        precondition(packet.count >= maximumLength, "a packet of maximum length fits")
        guard hold(upTo: Self.headerSize, of: input, at: &offset) else { return nil }
        let length = Int(partial[0]) << 8 | Int(partial[1])
        guard length <= maximumLength else { throw .frameTooLong(length) }
        if held == Self.headerSize, input.count - offset >= length {
            for index in 0..<length { packet[index] = input[offset + index] }
            offset += length
        } else {
            guard hold(upTo: Self.headerSize + length, of: input, at: &offset) else { return nil }
            for index in 0..<length { packet[index] = partial[Self.headerSize + index] }
        }
        held = 0
        return length
    }

    /// Moves bytes to the buffer until it has `count`; `false` if the input ends before.
    private mutating func hold(upTo count: Int, of input: Span<UInt8>, at offset: inout Int) -> Bool {
        while held < count {
            guard offset < input.count else { return false }
            partial[held] = input[offset]
            held += 1
            offset += 1
        }
        return true
    }
}

/// Why a stream cannot be read any further.
package enum FramingError: Error, Hashable, Sendable {
    /// The frame has this many bytes, more than any expected packet. The stream is another protocol, or an attack that
    /// makes the gateway wait and store.
    case frameTooLong(Int)
}
