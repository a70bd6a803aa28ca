import Audio
import CallControl
import Foundation
import Opus
import Sockets

/// The file of a recording that goes on. It is used by one thread at a time.
///
/// What comes is gathered, and written every second. If the process is killed, what was written can be played.
final class RecordingFile {
    /// So many times 20 ms are gathered before they are written.
    private static let cyclesTogether = 50

    private let handle: FileHandle
    private let content: any RecordingContent
    private var pending: [UInt8] = []
    private var cyclesPending = 0
    /// How many times 20 ms were taken.
    private var cycles = 0
    /// How many bytes the file has.
    private(set) var size = 0

    /// Makes a file, readable by its owner only, with nothing in it but the start.
    ///
    /// - Throws: what the disk or libopus says; an error also if there is a file of that name.
    init(_ path: String, format: RecordRequest.Format, channels: Int, serialNumber: UInt32) throws {
        content =
            switch format {
            case .wav: WaveContent(channels: channels)
            case .ogg: try OggContent(channels: channels, serialNumber: serialNumber)
            }
        try DurableFile.create(path)
        handle = try FileHandle(forUpdating: URL(filePath: path))
        try append(content.start())
    }

    /// The length of what was taken, in milliseconds.
    var milliseconds: Int { cycles * 20 }

    /// Takes 20 ms.
    ///
    /// - Throws: what the disk or libopus says.
    func add(_ samples: [Int16]) throws {
        pending += try content.add(samples.span)
        cycles += 1
        cyclesPending += 1
        if cyclesPending == Self.cyclesTogether { try flush() }
    }

    /// Writes what was taken, so that it can be played.
    ///
    /// - Throws: what the disk says.
    func flush() throws {
        guard cyclesPending > 0 else { return }
        pending += content.flush()
        try write()
    }

    /// Writes what is left, and closes the file.
    ///
    /// - Throws: what the disk or libopus says.
    func finish() throws {
        pending += try content.finish()
        try write()
        try handle.synchronize()
        try handle.close()
    }

    /// Leaves in the file what was written of it as a whole, after an error. Returns how long that is, in milliseconds.
    func giveUp() -> Int {
        // The disk may refuse that as well; then the end is cut off when the file is next looked at.
        try? handle.truncate(atOffset: UInt64(size))
        if let start = content.restart(size: size) {
            try? handle.seek(toOffset: 0)
            try? handle.write(contentsOf: start)
        }
        try? handle.close()
        return (cycles - cyclesPending) * 20
    }

    private func write() throws {
        try append(pending)
        pending.removeAll(keepingCapacity: true)
        cyclesPending = 0
        guard let start = content.restart(size: size) else { return }
        try handle.seek(toOffset: 0)
        try handle.write(contentsOf: start)
    }

    private func append(_ bytes: [UInt8]) throws {
        try handle.seek(toOffset: UInt64(size))
        try handle.write(contentsOf: Data(bytes))
        size += bytes.count
    }
}
