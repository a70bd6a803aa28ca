/// G.711 with both laws; decoding is by table (ITU-T G.711; RFC 3551 §4.5.14).
package enum G711: Sendable {
    /// μ-law, RTP payload type 0 (PCMU).
    case muLaw
    /// A-law, RTP payload type 8 (PCMA).
    case aLaw

    /// The linear sample of 16 bits for a code word.
    @inlinable
    package func decode(_ code: UInt8) -> Int16 {
        switch self {
        case .muLaw: Self.muLawSamples[Int(code)]
        case .aLaw: Self.aLawSamples[Int(code)]
        }
    }

    /// The code word nearest to a linear sample of 16 bits.
    package func encode(_ sample: Int16) -> UInt8 {
        switch self {
        case .muLaw: Self.muLawCode(sample)
        case .aLaw: Self.aLawCode(sample)
        }
    }

    /// The code word of a sample of 0.
    package var silence: UInt8 {
        switch self {
        case .muLaw: 0xFF
        case .aLaw: 0xD5
        }
    }

    // MARK: Tables

    @usableFromInline static let muLawSamples: [Int16] = (0...255).map { muLawSample(UInt8($0)) }
    @usableFromInline static let aLawSamples: [Int16] = (0...255).map { aLawSample(UInt8($0)) }

    /// A code word has a sign, three bits of segment and four of step, all inverted. The bias of 33 steps joins the
    /// segments without a gap.
    private static func muLawSample(_ code: UInt8) -> Int16 {
        let bits = ~code
        let segment = Int16(bits >> 4 & 7)
        let magnitude = ((Int16(bits & 0x0F) << 3) + 0x84) << segment - 0x84
        return bits & 0x80 != 0 ? -magnitude : magnitude
    }

    private static func muLawCode(_ sample: Int16) -> UInt8 {
        let sign: UInt8 = sample < 0 ? 0x80 : 0
        let magnitude = min(Int(sample.magnitude), 32_635) + 0x84
        // The segment is the position of the highest set bit, counted from bit 7.
        let segment = UInt8(max(0, (Int.bitWidth - 1 - magnitude.leadingZeroBitCount) - 7))
        let step = UInt8(truncatingIfNeeded: magnitude >> (Int(segment) + 3)) & 0x0F
        return ~(sign | segment << 4 | step)
    }

    /// Every other bit is inverted; segment 0 has no implicit leading one.
    private static func aLawSample(_ code: UInt8) -> Int16 {
        let bits = code ^ 0x55
        let segment = Int16(bits >> 4 & 7)
        var magnitude = Int16(bits & 0x0F) << 4 + 8
        if segment > 0 { magnitude = (magnitude + 0x100) << (segment - 1) }
        return bits & 0x80 != 0 ? magnitude : -magnitude
    }

    private static func aLawCode(_ sample: Int16) -> UInt8 {
        let sign: UInt8 = sample >= 0 ? 0x80 : 0
        let magnitude = sample >= 0 ? Int(sample) : Int(sample.magnitude) - 1
        let high = Int.bitWidth - 1 - max(magnitude, 1).leadingZeroBitCount
        let segment = max(0, high - 7)
        let step = UInt8(truncatingIfNeeded: segment == 0 ? magnitude >> 4 : magnitude >> (segment + 3)) & 0x0F
        return (sign | UInt8(segment) << 4 | step) ^ 0x55
    }
}
