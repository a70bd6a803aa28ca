/// What stands before, between and behind the frames of an MP3 file and is no sound.
enum MP3Tag {
    private static let (id3, ape, lyrics) = (Array("ID3".utf8), Array("APETAGEX".utf8), Array("LYRICSBEGIN".utf8))
    private static let (oldID3, oldID3Extension) = (Array("TAG".utf8), Array("TAG+".utf8))

    /// Whether a file starts with an ID3v2 tag.
    static func isAtStart(of file: Span<UInt8>) -> Bool { file.starts(with: id3, at: 0) }

    /// The bytes of the tag at an offset within the file, more than 0, which may be more than the file has; `nil` if
    /// none is there.
    static func size(in file: Span<UInt8>, at offset: Int) -> Int? {
        // A frame does not start like any of these words.
        guard file[offset] != 0xFF else { return nil }
        if let size = sizeOfID3v2(in: file, at: offset) { return size }
        if file.starts(with: oldID3Extension, at: offset) { return 227 }
        if file.starts(with: oldID3, at: offset) { return 128 }
        if file.starts(with: ape, at: offset) { return apeSize(file, offset) }
        // Lyrics3 says its size at its end, and only ID3v1 comes behind it.
        if file.starts(with: lyrics, at: offset) { return file.count - offset }
        return nil
    }

    /// The bytes of an ID3v2 tag; `nil` if there is none. Its size has seven bits in each of four bytes, and counts
    /// neither the header nor the footer.
    static func sizeOfID3v2(in file: Span<UInt8>, at offset: Int) -> Int? {
        guard file.starts(with: id3, at: offset), offset + 10 <= file.count else { return nil }
        var size = 0
        for index in 6..<10 {
            guard file[offset + index] < 0x80 else { return nil }
            size = size << 7 | Int(file[offset + index])
        }
        let hasFooter = file[offset + 5] & 0x10 != 0
        return 10 + size + (hasFooter ? 10 : 0)
    }

    /// APEv2: the size counts the footer and not the header, which is told from a footer by a flag.
    private static func apeSize(_ file: Span<UInt8>, _ offset: Int) -> Int? {
        guard offset + 32 <= file.count else { return nil }
        let isHeader = file[offset + 23] & 0x20 != 0
        return isHeader ? 32 + Int(file.littleEndian(at: offset + 12, 4)) : 32
    }
}

extension Span where Element == UInt8 {
    /// Whether a word stands at an offset, which may be behind the end.
    func starts(with word: [UInt8], at offset: Int) -> Bool {
        guard offset + word.count <= count else { return false }
        for index in word.indices where self[offset + index] != word[index] { return false }
        return true
    }
}
