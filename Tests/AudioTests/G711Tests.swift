import Audio
import Testing

/// Values of ITU-T G.711 tables 1a to 2b, in samples of 16 bits.
struct G711Tests {
    @Test(
        arguments: [
            (.muLaw, 0xFF, 0), (.muLaw, 0x7F, 0), (.muLaw, 0x80, 32_124), (.muLaw, 0x00, -32_124), (.muLaw, 0xFE, 8),
            (.muLaw, 0x7E, -8),
            (.muLaw, 0xEF, 132), (.muLaw, 0x8F, 16_764), (.aLaw, 0xD5, 8), (.aLaw, 0x55, -8), (.aLaw, 0xAA, 32_256),
            (.aLaw, 0x2A, -32_256),
            (.aLaw, 0xC5, 264), (.aLaw, 0x85, 4_224),
        ] as [(G711, UInt8, Int16)])
    func `a code stands for its value`(_ law: G711, _ code: UInt8, _ value: Int16) {
        #expect(law.decode(code) == value)
    }

    @Test(arguments: [G711.muLaw, .aLaw])
    func `every code comes back, but for the second zero`(_ law: G711) {
        for code in UInt8.min...UInt8.max {
            let again = law.encode(law.decode(code))
            #expect(again == code || law.decode(again) == law.decode(code), "\(code)")
        }
    }

    @Test(arguments: [G711.muLaw, .aLaw])
    func `every sample is near its code`(_ law: G711) {
        for sample in stride(from: -32_768, through: 32_767, by: 7) {
            let back = Int(law.decode(law.encode(Int16(sample))))
            // Half a step of the segment, or what is cut off at the top.
            #expect(abs(back - sample) <= max(16, abs(sample) / 30 + 8), "\(sample) became \(back)")
        }
    }
}
