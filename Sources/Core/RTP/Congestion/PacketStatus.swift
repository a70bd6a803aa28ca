import Primitives

/// The status of one packet in transport-wide feedback, and the packing of many of them
/// (draft-holmer-rmcat-transport-wide-cc-extensions-01 §3.1.1 … §3.1.4).
///
///     |0| S |       run length        |    so many packets of status S
///     |1|0|        14 symbols         |    one bit each: missing, small
///     |1|1|         7 symbols         |    two bits each
enum PacketStatus: UInt16, Sendable {
    case missing = 0
    /// The packet arrived, with a delta of one byte.
    case small = 1
    /// The packet arrived, with a delta of two bytes: large or negative.
    case large = 2

    init(_ delta: Int16?) {
        guard let delta else {
            self = .missing
            return
        }
        self = (0...255).contains(delta) ? .small : .large
    }

    private static let vectorFlag: UInt16 = 0x8000
    private static let twoBitFlag: UInt16 = 0x4000
    private static let maximumRun = 0x1FFF
    private static let oneBitSymbols = 14
    private static let twoBitSymbols = 7

    // MARK: Reading

    /// Reads chunks until there are `count` symbols; `nil` if the chunks end earlier, or if a symbol is the reserved
    /// one, 3.
    static func list(reading reader: inout ByteReader, count: Int) -> [PacketStatus]? {
        var symbols: [PacketStatus] = []
        symbols.reserveCapacity(count)
        while symbols.count < count {
            guard let chunk = reader.readUInt16() else { return nil }
            let wanted = count - symbols.count
            if chunk & vectorFlag == 0 {
                guard let symbol = PacketStatus(rawValue: chunk >> 13 & 3) else { return nil }
                symbols.append(contentsOf: repeatElement(symbol, count: min(wanted, Int(chunk) & maximumRun)))
                // A run of length 0 makes no progress.
                guard chunk & UInt16(maximumRun) != 0 else { return nil }
                continue
            }
            let (size, bits) = chunk & twoBitFlag == 0 ? (oneBitSymbols, 1) : (twoBitSymbols, 2)
            for place in 1...size where place <= wanted {
                guard
                    let symbol = PacketStatus(
                        rawValue: chunk >> UInt16((size - place) * bits) & (1 << UInt16(bits) - 1))
                else { return nil }
                symbols.append(symbol)
            }
        }
        return symbols
    }

    // MARK: Writing

    /// Writes runs where a run holds at least as many symbols as a vector, and otherwise the vector that fits the next
    /// symbols.
    static func write(_ symbols: [PacketStatus], to writer: inout ByteWriter) {
        var next = 0
        while next < symbols.count {
            let run = symbols[next...].prefix(maximumRun).prefix { $0 == symbols[next] }.count
            let ahead = symbols[next...].prefix(oneBitSymbols)
            let fitsOneBit = !ahead.contains(.large)
            let isLast = next + run == symbols.count
            if isLast || run >= (fitsOneBit ? oneBitSymbols : twoBitSymbols) {
                writer.write(symbols[next].rawValue << 13 | UInt16(run))
                next += run
            } else if fitsOneBit {
                writer.write(vectorFlag | vector(ahead, size: oneBitSymbols, bits: 1))
                next += ahead.count
            } else {
                writer.write(
                    vectorFlag | twoBitFlag | vector(ahead.prefix(twoBitSymbols), size: twoBitSymbols, bits: 2))
                next += min(twoBitSymbols, ahead.count)
            }
        }
    }

    /// Packs symbols from the high bits down; unused bits are 0.
    private static func vector(_ symbols: ArraySlice<PacketStatus>, size: Int, bits: Int) -> UInt16 {
        var packed: UInt16 = 0
        for (place, symbol) in symbols.enumerated() { packed |= symbol.rawValue << UInt16((size - 1 - place) * bits) }
        return packed
    }
}
