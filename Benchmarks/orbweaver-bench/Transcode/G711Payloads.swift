import Audio

/// What a telephone makes of 48 kHz: a sixth of the samples, 20 ms a payload.
enum G711Payloads {
    private static let step = 6
    private static let size = 160

    static func encode(_ samples: [Int16]) -> [[UInt8]] {
        let narrow = stride(from: 0, through: samples.count - step, by: step).map { start in
            samples[start..<(start + step)].reduce(0) { $0 + Int($1) } / step
        }
        return stride(from: 0, through: narrow.count - size, by: size).map { start in
            narrow[start..<(start + size)].map { G711.muLaw.encode(Int16($0)) }
        }
    }
}
