import Audio
import CallControl
import Foundation
import Primitives

/// Brings the file of a recording into order that was being written when the process ended.
enum RecordingRepair {
    /// More bytes than the last page of an Ogg file can have, and the start of another page.
    private static let longestTail = 256 << 10

    /// What a file has.
    struct Extent: Equatable {
        /// How long it is, in milliseconds.
        var milliseconds: Int
        /// How many bytes it has.
        var bytes: Int
    }

    /// Cuts off what was not written as a whole, and marks the end.
    ///
    /// - Throws: what the disk says.
    static func repair(_ path: String, format: RecordRequest.Format, channels: Int) throws -> Extent {
        let handle = try FileHandle(forUpdating: URL(filePath: path))
        defer { try? handle.close() }
        let size = Int(try handle.seekToEnd())
        switch format {
        case .wav: return try repairWave(handle, size, WaveHeader(rate: 48_000, channels: channels))
        case .ogg: return try repairOgg(handle, size)
        }
    }

    private static func repairWave(_ handle: FileHandle, _ size: Int, _ header: WaveHeader) throws -> Extent {
        let data = max(0, size - WaveHeader.size) / header.frameSize * header.frameSize
        try handle.truncate(atOffset: UInt64(WaveHeader.size + data))
        try handle.seek(toOffset: 0)
        try handle.write(contentsOf: Data(header.bytes(dataSize: data)))
        try handle.synchronize()
        return Extent(
            milliseconds: data / header.frameSize * 1_000 / header.rate, bytes: WaveHeader.size + data)
    }

    private static func repairOgg(_ handle: FileHandle, _ size: Int) throws -> Extent {
        let start = max(0, size - longestTail)
        try handle.seek(toOffset: UInt64(start))
        let tail = [UInt8](try handle.readToEnd() ?? Data())
        guard let (page, offset) = OggPage.last(in: tail.span) else { return Extent(milliseconds: 0, bytes: size) }
        let end = start + page.body.upperBound
        try handle.truncate(atOffset: UInt64(end))
        // A page without audio has no end of the stream: it could be that of a header.
        let played = max(0, Int(page.granulePosition ?? 0) - OggContent.preSkip)
        if played > 0, !page.isLast {
            try handle.seek(toOffset: UInt64(start + offset))
            let bytes = OggOpusWriter.markedLast(tail.span.extracting(offset..<page.body.upperBound))
            try handle.write(contentsOf: Data(bytes))
        }
        try handle.synchronize()
        return Extent(milliseconds: played / 48, bytes: end)
    }
}
