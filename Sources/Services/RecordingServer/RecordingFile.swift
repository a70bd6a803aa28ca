import Audio
import CallControl
import CallRuntime
import Foundation
import Opus
import Sockets

/// The file of a recording that goes on. It is used by one thread at a time.
///
/// What comes is gathered, and written every second. If the process is killed, what was written can be played.
final class RecordingFile {
    /// So many samples of 48 kHz are gathered before they are written.
    private static let samplesTogether = 48_000

    private let handle: FileHandle
    private let content: any RecordingContent
    private var pending: [UInt8] = []
    private var samplesPending = 0
    /// How many samples of 48 kHz were taken.
    private var samples = 0
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
    var milliseconds: Int { samples / 48 }

    /// Takes 20 ms.
    ///
    /// - Throws: what the disk or libopus says.
    func add(_ samples: [Int16]) throws {
        pending += try content.add(samples.span)
        try count(AudioMixer.frame)
    }

    /// Takes packets of Opus, if the file is Ogg.
    ///
    /// - Throws: what the disk says.
    func add(_ packets: [RecordedPacket]) throws {
        for packet in packets {
            pending += content.add(packet)
            try count(packet.samples)
        }
    }

    private func count(_ taken: Int) throws {
        samples += taken
        samplesPending += taken
        if samplesPending >= Self.samplesTogether { try flush() }
    }

    /// Writes what was taken, so that it can be played.
    ///
    /// - Throws: what the disk says.
    func flush() throws {
        guard samplesPending > 0 else { return }
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
        return (samples - samplesPending) / 48
    }

    private func write() throws {
        try append(pending)
        pending.removeAll(keepingCapacity: true)
        samplesPending = 0
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
