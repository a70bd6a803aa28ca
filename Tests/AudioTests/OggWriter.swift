import Audio

/// Makes Ogg files, right ones and wrong ones.
struct OggWriter {
    struct Flags: OptionSet {
        let rawValue: UInt8
        static let continued = Flags(rawValue: 1)
        static let first = Flags(rawValue: 2)
        static let last = Flags(rawValue: 4)
    }

    private(set) var file: [UInt8] = []
    var serial: UInt32 = 7
    var number: UInt32 = 0

    static func head(
        channels: UInt8 = 1, preSkip: UInt16 = 312, gain: Int16 = 0, version: UInt8 = 1, mapping: [UInt8] = [0]
    ) -> [UInt8] {
        Array("OpusHead".utf8) + [version, channels] + little(UInt64(preSkip), 2) + little(48_000, 4)
            + little(UInt64(UInt16(bitPattern: gain)), 2) + mapping
    }

    static let tags = Array("OpusTags".utf8) + [0, 0, 0, 0, 0, 0, 0, 0]

    /// A packet of 20 ms of CELT.
    static let packet: [UInt8] = [0xF8, 1, 2, 3]

    /// Both headers, each on its page.
    static func started(_ head: [UInt8] = head()) -> OggWriter {
        var writer = OggWriter()
        writer.page([head], granule: 0, .first)
        writer.page([tags], granule: 0)
        return writer
    }

    /// A page with whole packets, or with the segments that are given.
    mutating func page(
        _ packets: [[UInt8]], segments: [UInt8]? = nil, granule: UInt64, _ flags: Flags = [], version: UInt8 = 0
    ) {
        let table =
            segments ?? packets.flatMap { [UInt8](repeating: 255, count: $0.count / 255) + [UInt8($0.count % 255)] }
        var page =
            Array("OggS".utf8) + [version, flags.rawValue] + Self.little(granule, 8) + Self.little(UInt64(serial), 4)
        page += Self.little(UInt64(number), 4) + [0, 0, 0, 0, UInt8(table.count)] + table + packets.flatMap(\.self)
        let sum = OggPage.checksum(of: page.span)
        page.replaceSubrange(OggPage.checksumRange, with: Self.little(UInt64(sum), 4))
        file += page
        number += 1
    }

    static func little(_ value: UInt64, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt64($0))) }
    }
}
