/// Writes the pages of an Ogg file with one Opus stream (RFC 3533 §6, RFC 7845 §3), as packets come.
///
///     page 0: OpusHead │ page 1: OpusTags │ audio … │ audio, end of stream
///
/// What is on a page that was handed out can be played, even if no further page follows.
package struct OggOpusWriter: Equatable, Sendable {
    /// The most segments of a page (RFC 3533 §6).
    private static let maximumSegments = 255

    /// The number of channels, 1 or 2.
    package let channels: Int
    /// Samples of 48 kHz that a decoder drops at the start: what the encoder delays.
    package let preSkip: Int
    /// The name of the stream within the file.
    package let serialNumber: UInt32
    private var pageNumber: UInt32 = 0
    /// Samples of 48 kHz in all packets so far.
    private var granule: Int64 = 0
    private var segments: [UInt8] = []
    private var body: [UInt8] = []

    /// Makes a writer of its parts; each parameter is the property of that name.
    package init(channels: Int, preSkip: Int, serialNumber: UInt32) {
        self.channels = channels
        self.preSkip = preSkip
        self.serialNumber = serialNumber
    }

    /// Both header pages, which are written first.
    ///
    /// - Parameter vendor: what has made the file (RFC 7845 §5.2).
    package mutating func start(vendor: String) -> [UInt8] {
        var head = Array("OpusHead".utf8) + [1, UInt8(channels)]
        for (value, count) in [(preSkip, 2), (48_000, 4), (0, 2), (0, 1)] { head.append(littleEndian: value, count) }
        var tags = Array("OpusTags".utf8)
        tags.append(littleEndian: vendor.utf8.count, 4)
        tags += Array(vendor.utf8)
        tags.append(littleEndian: 0, 4)
        put(head)
        var pages = page(granule: 0, flags: .first)
        put(tags)
        pages += page(granule: 0, flags: [])
        return pages
    }

    /// Adds a packet, of at most 61,440 bytes.
    ///
    /// - Parameter samples: samples of 48 kHz that it decodes to.
    /// - Returns: a page with the packets before, if there is no room on it for this one; usually nothing.
    package mutating func add(_ packet: Span<UInt8>, samples: Int) -> [UInt8] {
        let full = segments.count + packet.count / 255 + 1 > Self.maximumSegments ? flush() : []
        put(packet)
        granule += Int64(samples)
        return full
    }

    /// A page with what was added since the last one; empty: nothing was.
    package mutating func flush() -> [UInt8] { segments.isEmpty ? [] : page(granule: granule, flags: []) }

    /// The last page. A packet has to be on it, so that there is one to mark as the last.
    ///
    /// - Parameter played: how many samples of 48 kHz are played; what the packets have beyond is trimmed (RFC 7845
    ///   §4.4).
    package mutating func finish(played: Int) -> [UInt8] {
        page(granule: min(granule, Int64(preSkip + played)), flags: .last)
    }

    /// The last page of a file anew, as the last one of the stream (RFC 3533 §6).
    package static func markedLast(_ page: Span<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        for index in page.indices { bytes.append(page[index]) }
        bytes[5] |= Flags.last.rawValue
        return checked(bytes)
    }

    private struct Flags: OptionSet {
        let rawValue: UInt8
        static let first = Flags(rawValue: 2)
        static let last = Flags(rawValue: 4)
    }

    private mutating func put(_ packet: [UInt8]) { put(packet.span) }

    private mutating func put(_ packet: Span<UInt8>) {
        segments += [UInt8](repeating: 255, count: packet.count / 255) + [UInt8(packet.count % 255)]
        for index in packet.indices { body.append(packet[index]) }
    }

    private mutating func page(granule: Int64, flags: Flags) -> [UInt8] {
        var bytes = Array("OggS".utf8) + [0, flags.rawValue]
        bytes.append(littleEndian: Int(granule), 8)
        bytes.append(littleEndian: Int(serialNumber), 4)
        bytes.append(littleEndian: Int(pageNumber), 4)
        bytes += [0, 0, 0, 0, UInt8(segments.count)] + segments + body
        pageNumber += 1
        segments.removeAll(keepingCapacity: true)
        body.removeAll(keepingCapacity: true)
        return Self.checked(bytes)
    }

    /// The page with its checksum.
    private static func checked(_ page: [UInt8]) -> [UInt8] {
        var sum: [UInt8] = []
        sum.append(littleEndian: Int(OggPage.checksum(of: page.span)), 4)
        var bytes = page
        bytes.replaceSubrange(OggPage.checksumRange, with: sum)
        return bytes
    }
}

extension OggPage {
    /// The last whole page in the end of a file that was cut off anywhere; `nil` if there is none.
    ///
    /// - Parameter tail: the last bytes of the file, in which a page may start anywhere.
    package static func last(in tail: Span<UInt8>) -> (page: OggPage, offset: Int)? {
        var offset = tail.count - headerSize
        while offset >= 0 {
            // Bytes that look like a page and are none have another checksum.
            if tail[offset] == 0x4F, tail[offset + 1] == 0x67, let page = try? OggPage(in: tail, at: offset) {
                return (page, offset)
            }
            offset -= 1
        }
        return nil
    }
}
