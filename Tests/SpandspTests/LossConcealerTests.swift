import Spandsp
import Testing

struct LossConcealerTests {
    private static let untouched: Int16 = 0x5A5A

    /// A saw-tooth with a period of `period` samples, long enough for a pitch to be found.
    private static func voice(period: Int, count: Int = 800) -> [Int16] {
        (0..<count).map { Int16($0 % period * 16_000 / period - 8_000) }
    }

    /// spandsp 0.0.6 writes a quarter of a pitch period whatever room there is: at 66 Hz, 30 samples.
    @Test(arguments: Array(1...40) + [80, 160, 320, 960], [40, 80, 119, 120])
    func `a loss is filled and nothing behind it`(_ count: Int, _ period: Int) {
        var concealer = LossConcealer()
        var heard = Self.voice(period: period)
        var span = heard.mutableSpan
        concealer.receive(&span)
        for _ in 0..<4 {
            var buffer = [Int16](repeating: Self.untouched, count: count + 200)
            var all = buffer.mutableSpan
            var room = all._mutatingExtracting(100..<(100 + count))
            concealer.conceal(into: &room)
            #expect(buffer[..<100].allSatisfy { $0 == Self.untouched })
            #expect(buffer[(100 + count)...].allSatisfy { $0 == Self.untouched })
        }
    }

    @Test(arguments: Array(1...40)) func `what follows a loss is smoothed within its own bounds`(_ count: Int) {
        var concealer = LossConcealer()
        var heard = Self.voice(period: 120)
        var span = heard.mutableSpan
        concealer.receive(&span)
        var lost = [Int16](repeating: 0, count: 160)
        var gap = lost.mutableSpan
        concealer.conceal(into: &gap)
        var buffer = [Int16](repeating: Self.untouched, count: count + 200)
        var all = buffer.mutableSpan
        var room = all._mutatingExtracting(100..<(100 + count))
        concealer.receive(&room)
        #expect(buffer[..<100].allSatisfy { $0 == Self.untouched })
        #expect(buffer[(100 + count)...].allSatisfy { $0 == Self.untouched })
    }

    @Test(arguments: [10, 20, 29, 30, 160]) func `a loss is hidden at first and fades out, in pieces of any size`(
        _ size: Int
    ) {
        var concealer = LossConcealer()
        var heard = Self.voice(period: 80)
        var span = heard.mutableSpan
        concealer.receive(&span)
        var hidden: [Int16] = []
        while hidden.count < 960 {
            var piece = [Int16](repeating: 0, count: size)
            var room = piece.mutableSpan
            concealer.conceal(into: &room)
            hidden += piece
        }
        #expect(hidden[80..<160].map { abs(Int($0)) }.max() ?? 0 > 4_000)
        #expect(hidden[600..<960].allSatisfy { $0 == 0 })
    }
}
