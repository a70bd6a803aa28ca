import NIOCore
import SignalingServer
import Testing

/// When a channel asks its client how much it has received.
struct ConfirmationTests {
    private var confirmation = Confirmation(.init(delay: .seconds(10), count: 3))
    private let start = NIODeadline.uptimeNanoseconds(1_000_000_000)

    @Test mutating func `a ping names the last notification before it, and its pong confirms that one`() {
        #expect(confirmation.sent(7) == .later)
        #expect(confirmation.sent(8) == .nothing, "the ping is due already")
        let ping = confirmation.makePing(at: start)
        #expect(ping == ByteBuffer(integer: UInt64(8)))
        #expect(confirmation.sent(9) == .nothing, "one ping is on its way")
        #expect(confirmation.makePing(at: start) == nil)
        #expect(confirmation.pong(ByteBuffer(integer: UInt64(8))) == 8)
        #expect(confirmation.need() == .later)
        #expect(confirmation.makePing(at: start) == ByteBuffer(integer: UInt64(9)))
    }

    @Test mutating func `after enough notifications the ping is sent at once`() {
        #expect(confirmation.sent(1) == .later)
        #expect(confirmation.sent(2) == .nothing)
        #expect(confirmation.sent(3) == .now)
        #expect(confirmation.makePing(at: start) != nil)
        for number in 4...6 as ClosedRange<UInt64> { #expect(confirmation.sent(number) == .nothing) }
        #expect(confirmation.pong(ByteBuffer(integer: UInt64(3))) == 3)
        #expect(confirmation.need() == .now)
    }

    @Test mutating func `a pong that answers no such ping confirms nothing`() {
        #expect(confirmation.pong(ByteBuffer()) == nil)
        _ = confirmation.sent(1)
        _ = confirmation.makePing(at: start)
        #expect(confirmation.pong(ByteBuffer()) == nil)
        #expect(confirmation.pong(ByteBuffer(integer: UInt64(2))) == nil)
        #expect(confirmation.pong(ByteBuffer(integer: UInt64(1))) == 1)
        #expect(confirmation.pong(ByteBuffer(integer: UInt64(1))) == nil)
    }

    @Test mutating func `a client that sends text and never a pong is believed after 20 seconds`() {
        #expect(confirmation.text(at: start) == nil)
        _ = confirmation.sent(1)
        _ = confirmation.makePing(at: start)
        #expect(confirmation.text(at: start + .seconds(20)) == nil)
        #expect(confirmation.text(at: start + .seconds(21)) == 1)
        #expect(confirmation.text(at: start + .seconds(90)) == nil)
    }
}
