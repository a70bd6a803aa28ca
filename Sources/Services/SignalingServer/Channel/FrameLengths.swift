import NIOCore

/// Follows the frames in a stream of bytes by their lengths alone, to see whether each length is written as short as it can be
/// (RFC 6455 §5.2): the frame decoder does not tell.
package struct FrameLengths: Sendable {
    private enum State {
        case opcode
        case length
        /// Of an extended length: `value` so far, `missing` bytes of it, and the smallest that is worth its form.
        case extendedLength(UInt64, missing: Int, smallest: UInt64, maskLength: UInt64)
        /// Masking key and payload.
        case rest(UInt64)
    }

    private var state = State.opcode

    package init() {}

    /// `false` from the first frame on whose length has a shorter form; to be asked no further then.
    package mutating func follow(_ bytes: some RandomAccessCollection<UInt8>) -> Bool {
        var bytes = bytes[...]
        while let byte = bytes.first {
            switch state {
            case .opcode:
                state = .length
                bytes.removeFirst()
            case .length:
                let maskLength: UInt64 = byte & 0x80 == 0 ? 0 : 4
                switch byte & 0x7F {
                case 126: state = .extendedLength(0, missing: 2, smallest: 126, maskLength: maskLength)
                case 127: state = .extendedLength(0, missing: 8, smallest: 65_536, maskLength: maskLength)
                case let short: skip(UInt64(short) + maskLength)
                }
                bytes.removeFirst()
            case .extendedLength(let value, let missing, let smallest, let maskLength):
                let longer = value << 8 | UInt64(byte)
                bytes.removeFirst()
                guard missing == 1 else {
                    state = .extendedLength(longer, missing: missing - 1, smallest: smallest, maskLength: maskLength)
                    continue
                }
                guard longer >= smallest else { return false }
                // Far beyond every limit: the decoder has refused it.
                let (length, overflow) = longer.addingReportingOverflow(maskLength)
                skip(overflow ? .max : length)
            case .rest(let length):
                let taken = min(length, UInt64(bytes.count))
                bytes = bytes.dropFirst(Int(taken))
                skip(length - taken)
            }
        }
        return true
    }

    private mutating func skip(_ length: UInt64) { state = length == 0 ? .opcode : .rest(length) }
}

/// In front of the frame decoder: ends the stream at a frame that breaks the rule.
final class FrameLengthGuard: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    typealias InboundOut = ByteBuffer

    /// Comes to the ``WebSocketHandler`` as an error, like what the decoder refuses.
    struct LengthNotMinimal: Error {}

    private var lengths = FrameLengths()
    private var hasRefused = false

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard !hasRefused else { return }
        guard lengths.follow(Self.unwrapInboundIn(data).readableBytesView) else {
            hasRefused = true
            return context.fireErrorCaught(LengthNotMinimal())
        }
        context.fireChannelRead(data)
    }
}
