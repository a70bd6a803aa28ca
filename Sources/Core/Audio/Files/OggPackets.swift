import Primitives

/// Reassembles the packets of one logical stream from its pages (RFC 3533 §5). Pages of other streams are ignored.
struct OggPackets: Sendable {
    /// The longest packet that is accepted, in bytes: the longest packet of Opus (RFC 7845 §6).
    static let maximumPacket = 61_440

    /// A page, and the packets that it has completed.
    struct Completion {
        var page: OggPage
        /// The packets that ended on the page, as ranges of `bytes`.
        var packets: [Range<Int>]
    }

    private(set) var bytes: [UInt8] = []
    private var serialNumber: UInt32?
    private var offset = 0
    private var lastNumber: UInt32?
    /// The start of the packet that the last page left incomplete; `nil` if there is none.
    private var open: Int?
    private var isOver = false

    /// Reads the next page of the stream; `nil` at its end, or where the file is cut off.
    mutating func next(in file: Span<UInt8>) throws(SoundFileError) -> Completion? {
        while !isOver, let page = try OggPage(in: file, at: offset) {
            offset = page.body.upperBound
            if serialNumber == nil {
                guard page.isFirst else { throw .noStart }
                serialNumber = page.serialNumber
            }
            guard page.serialNumber == serialNumber else { continue }
            if let lastNumber, page.number != lastNumber &+ 1 {
                throw .missingPages(after: lastNumber, before: page.number)
            }
            lastNumber = page.number
            isOver = page.isLast
            return Completion(page: page, packets: try take(page, from: file))
        }
        return nil
    }

    private mutating func take(_ page: OggPage, from file: Span<UInt8>) throws(SoundFileError) -> [Range<Int>] {
        guard page.isContinued == (open != nil) || page.segmentTable.isEmpty else {
            throw .brokenPacket(page: page.number)
        }
        var packets: [Range<Int>] = []
        var start = open ?? bytes.count
        var source = page.body.lowerBound
        for segment in page.segmentTable {
            let size = Int(file[segment])
            guard bytes.count + size - start <= Self.maximumPacket else {
                throw .longPacket(page: page.number)
            }
            for index in source..<(source + size) { bytes.append(file[index]) }
            source += size
            if size < 255 {
                packets.append(start..<bytes.count)
                start = bytes.count
            }
        }
        let isOpen = page.segmentTable.isEmpty ? open != nil : file[page.segmentTable.upperBound - 1] == 255
        open = isOpen ? start : nil
        return packets
    }
}
