package import Primitives

/// A UUID (RFC 9562), which names a push or a call towards apps and providers.
package struct PushID: Hashable, Sendable {
    private let high: UInt64
    private let low: UInt64

    /// Draws a random one (RFC 9562 §5.4).
    package init(random: inout some RandomSource) { self.init(random.next(), random.next(), version: 4) }

    /// Makes the one of a name: the same for the same name (RFC 9562 §5.8). It tells names apart unless an attacker
    /// chooses them so that it does not.
    package init(naming name: String) {
        let first = FowlerNollVo(name)
        var second = first
        second.combine("#")
        self.init(first.value, second.value, version: 8)
    }

    private init(_ high: UInt64, _ low: UInt64, version: UInt64) {
        self.high = high & ~0xF000 | version << 12
        self.low = low & ~(0b11 << 62) | 0b10 << 62
    }

    /// The canonical text, with small letters (RFC 9562 §4).
    package var text: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(36)
        for half in [high, low] {
            for shift in stride(from: 60, through: 0, by: -4) {
                switch bytes.count {
                case 8, 13, 18, 23: bytes.append(UInt8(ascii: "-"))
                default: break
                }
                let digit = UInt8(truncatingIfNeeded: half >> UInt64(shift)) & 0xF
                bytes.append(digit < 10 ? digit | 0x30 : digit + 0x57)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
