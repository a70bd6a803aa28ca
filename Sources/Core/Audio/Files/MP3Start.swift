import Primitives

/// Finds the first frame of an MP3 file, behind what may stand in front of it: tags and zeros, or the rest of a frame
/// that a recording was cut in, or other bytes that are no sound.
enum MP3Start {
    /// The bytes in which the first frame is searched for, behind tags and zeros. ID3v2 tags, which may have a picture,
    /// do not count. libmpg123 searches as far.
    private static let searchLimit = 65_536

    /// Where the first frame starts.
    ///
    /// Any bytes may look like one header, also the first ones of a file that was cut. So the frame has to be confirmed
    /// by what follows it. Behind tags and zeros alone, the header of another format confirms it too, and is refused
    /// later. A frame there that nothing confirms counts only if no other one is found.
    ///
    /// - Returns: `nil` if there is none, or only one of audio that is not played.
    static func find(in file: Span<UInt8>) -> Int? {
        let start = contentStart(of: file, from: 0)
        guard let first = frame(in: file, at: start) else { return search(file, from: start) }
        let next = start + first.size
        if mayFollowFrame(file, at: next) { return start }
        guard let found = search(file, from: start) else { return start }
        // Zeros may separate frames. What is found within the first one shows that it is none.
        return found >= next && mayFollowFrame(file, at: contentStart(of: file, from: next)) ? start : found
    }

    /// The first frame from an offset on that is confirmed by what follows it.
    private static func search(_ file: Span<UInt8>, from start: Int) -> Int? {
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

    /// Whether the header of any kind of MPEG audio is at an offset, or a tag, or the end of the file.
    private static func mayFollowFrame(_ file: Span<UInt8>, at offset: Int) -> Bool {
        guard offset < file.count else { return offset == file.count }
        if MP3Tag.size(in: file, at: offset) != nil { return true }
        do throws(SoundFileError) {
            return try MP3Frame(in: file, at: offset) != nil
        } catch {
            // MPEG audio of another kind.
            return true
        }
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

    /// The first byte from an offset on that is no zero and in no tag; it may be behind the end.
    private static func contentStart(of file: Span<UInt8>, from start: Int) -> Int {
        var offset = start
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
