import Primitives

/// Finds the first frame of an MP3 file, behind what may stand in front of it: tags and zeros, or the rest of a frame
/// that a recording was cut in, or other bytes that are no sound.
enum MP3Start {
    /// The bytes in which the first frame is searched for, behind tags and zeros. ID3v2 tags, which may have a picture,
    /// do not count. libmpg123 searches as far.
    private static let searchLimit = 65_536

    /// Where the first frame starts.
    ///
    /// Behind tags and zeros alone, a header is enough. Behind other bytes, the frame has to be confirmed by what
    /// follows it, since any bytes may look like one header.
    ///
    /// - Returns: `nil` if there is none, or only one of audio that is not played.
    static func find(in file: Span<UInt8>) -> Int? {
        let start = contentStart(of: file)
        if frame(in: file, at: start) != nil { return start }
        var end = start + searchLimit
        var place = start
        while place < min(end, file.count) {
            if file[place] == 0xFF, isConfirmed(file, at: place) { return place }
            let tag = MP3Tag.sizeOfID3v2(in: file, at: place)
            place += tag ?? 1
            end += tag ?? 0
        }
        return nil
    }

    /// Whether a frame is at an offset, and directly behind it another one of the same stream, a tag, or the end of the
    /// file.
    static func isConfirmed(_ file: Span<UInt8>, at offset: Int) -> Bool {
        guard let first = frame(in: file, at: offset) else { return false }
        let next = offset + first.size
        guard next < file.count else { return next == file.count }
        if MP3Tag.size(in: file, at: next) != nil { return true }
        return frame(in: file, at: next)?.continues(first) ?? false
    }

    /// The first byte that is no zero and in no tag; it may be behind the end.
    private static func contentStart(of file: Span<UInt8>) -> Int {
        var offset = 0
        while offset < file.count {
            if file[offset] == 0 {
                offset += 1
            } else if let size = MP3Tag.size(in: file, at: offset) {
                offset += size
            } else {
                return offset
            }
        }
        return offset
    }

    /// The header at an offset; `nil` if none is there, or one of audio that is not played.
    private static func frame(in file: Span<UInt8>, at offset: Int) -> MP3Frame? {
        do throws(SoundFileError) {
            return try MP3Frame(in: file, at: offset)
        } catch {
            return nil
        }
    }
}
