/// Cuts a byte stream into frames (RFC 4571 §2, which RFC 6544 prescribes for every packet on an ICE connection):
///
///     | length, 2 bytes | packet … | length, 2 bytes | packet … |
///
/// The only memory is room for one frame that has not come whole; it is allocated once.
package struct FrameReader: Sendable {
    package static let headerSize = 2

    private let maximumLength: Int
    /// The beginning of a frame, header included, of which the end is still to come.
    private var beginning: [UInt8]
    private var held = 0

    /// - Parameter maximumLength: of a packet; a stream that announces more is given up.
    package init(maximumLength: Int) {
        precondition((1...Int(UInt16.max)).contains(maximumLength), "a length has 16 bits")
        self.maximumLength = maximumLength
        beginning = [UInt8](repeating: 0, count: Self.headerSize + maximumLength)
    }

    /// Takes bytes of `input` from `offset` on, up to the end of the next frame, and writes the packet in it to the front of
    /// `packet`.
    ///
    /// - Returns: the packet's length, which may be 0 (a null packet, RFC 4571 §2); `nil` when the input is used up.
    package mutating func next(in input: Span<UInt8>, at offset: inout Int, into packet: inout MutableSpan<UInt8>)
        throws(FramingError) -> Int?
    {
        precondition(packet.count >= maximumLength, "a packet of maximum length fits")
        guard hold(upTo: Self.headerSize, of: input, at: &offset) else { return nil }
        let length = Int(beginning[0]) << 8 | Int(beginning[1])
        guard length <= maximumLength else { throw .frameTooLong(length) }
        if held == Self.headerSize, input.count - offset >= length {
            for index in 0..<length { packet[index] = input[offset + index] }
            offset += length
        } else {
            guard hold(upTo: Self.headerSize + length, of: input, at: &offset) else { return nil }
            for index in 0..<length { packet[index] = beginning[Self.headerSize + index] }
        }
        held = 0
        return length
    }

    /// Moves bytes until `count` are held; `false` if the input ends before.
    private mutating func hold(upTo count: Int, of input: Span<UInt8>, at offset: inout Int) -> Bool {
        while held < count {
            guard offset < input.count else { return false }
            beginning[held] = input[offset]
            held += 1
            offset += 1
        }
        return true
    }
}

/// Why a stream cannot be read on.
package enum FramingError: Error, Hashable, Sendable {
    /// More than any packet of ours has, so that this is another protocol, or an attempt to make us wait and store.
    case frameTooLong(Int)
}
