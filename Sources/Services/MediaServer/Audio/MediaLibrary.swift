internal import Audio
package import CallControl
internal import Foundation
internal import Opus
internal import Primitives
internal import SpeexDSP

/// The sound files of one folder. A file is read when it is first requested, and is kept as a sound of 48 kHz.
package final class MediaLibrary: Sendable {
    /// Bytes of a file: ten minutes of 48 kHz stereo PCM.
    private static let maximumFileSize = 128 << 20
    /// Bytes of samples that are cached: the longest sound in stereo, and as much again for others. A sound that is
    /// being played stays in memory in addition, until it ends.
    package static let maximumCachedBytes = 700 << 20
    /// The longest sound, in seconds.
    private static let longest = OggOpusFile.maximumSamples / 48_000

    private let folder: String?
    private let cache: SoundCache
    private let reader = Reader()

    /// Makes an empty library.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files; `nil` if none is configured, and then every `load` throws.
    ///   - capacity: Bytes of samples that are cached, 700 MB unless given.
    package init(folder: String?, capacity: Int = maximumCachedBytes) {
        self.folder = folder
        cache = SoundCache(capacity: capacity)
    }

    /// Reads a file into the cache, unless it is there in its current version.
    ///
    /// - Returns: Whether the file was read.
    /// - Throws: `MediaFileError`, with the reason, if the name is not that of a regular file in the folder, or the
    ///   file cannot be played.
    @discardableResult
    package func load(_ name: String) async throws(MediaFileError) -> Bool { try await reader.load(name, for: self) }

    /// Reads one file at a time: concurrent requests for a file wait for each other, and the memory needed to convert a
    /// file is allocated once.
    private actor Reader {
        func load(_ name: String, for library: MediaLibrary) throws(MediaFileError) -> Bool { try library.read(name) }

        func take(
            _ bytes: [UInt8], from url: String, tag: String?, for library: MediaLibrary
        ) throws(MediaFileError) {
            library.cache.put(try MediaLibrary.sound(in: bytes, url), url, .tagged(tag))
        }
    }

    /// Reads a file unless the cache is current.
    ///
    /// - Returns: Whether the file was read.
    private func read(_ name: String) throws(MediaFileError) -> Bool {
        guard let folder else { throw .noFolder }
        // No name may lead out of the folder, or to a hidden file.
        guard !name.isEmpty, name.utf8.count <= 255, !name.hasPrefix("."), !name.contains("/"), !name.utf8.contains(0)
        else {
            throw .invalidName(name)
        }
        let url = URL(filePath: folder, directoryHint: .isDirectory).appending(path: name, directoryHint: .notDirectory)
        let values: URLResourceValues
        do {
            values = try url.resourceValues(forKeys: [
                .isRegularFileKey, .isSymbolicLinkKey, .fileSizeKey, .contentModificationDateKey,
            ])
        } catch {
            throw .notFound(name)
        }
        // A symbolic link could lead anywhere.
        guard values.isRegularFile == true, values.isSymbolicLink != true else {
            throw .notRegular(name)
        }
        guard let size = values.fileSize, size <= Self.maximumFileSize else {
            throw .tooLarge(name, limit: Self.maximumFileSize)
        }
        let modified = values.contentModificationDate ?? .distantPast
        if cache.isCurrent(name, .modified(modified)) { return false }
        cache.put(try Self.read(url, name), name, .modified(modified))
        return true
    }

    /// A sound that `load` has read; `nil` if it is not in the cache.
    package func sound(of name: String) -> Sound? { cache.sound(of: name) }

    // MARK: Other servers

    /// Takes a file that was fetched.
    ///
    /// - Parameter tag: its entity tag; `nil`: it has none.
    /// - Throws: `undecodable`.
    func take(_ bytes: [UInt8], from url: String, tag: String?) async throws(MediaFileError) {
        try await reader.take(bytes, from: url, tag: tag, for: self)
    }

    /// The entity tag of the file of this URL that is in the cache; `nil`: there is none, or it has none.
    func tag(of url: String) -> String? { if case .tagged(let tag) = cache.version(of: url) { tag } else { nil } }

    /// Whether the file of this URL is in the cache with this entity tag.
    func isCurrent(_ url: String, tag: String) -> Bool { cache.isCurrent(url, .tagged(tag)) }

    // MARK: Decoding

    private static func read(_ url: URL, _ name: String) throws(MediaFileError) -> Sound {
        let bytes: [UInt8]
        do {
            bytes = [UInt8](try Data(contentsOf: url))
        } catch {
            throw .unreadable(name)
        }
        return try sound(in: bytes, name)
    }

    private static func sound(in bytes: [UInt8], _ name: String) throws(MediaFileError) -> Sound {
        do throws(SoundFileError) {
            if OggOpusFile.isOgg(bytes.span) { return try decoded(OggOpusFile(parsing: bytes.span)) }
            let file = try WaveFile(parsing: bytes.span)
            guard file.samples.count / file.channels <= longest * file.rate else {
                throw .tooLong(minutes: longest / 60)
            }
            return file.rate == 48_000 ? Sound(file.samples, channels: file.channels) : resampled(file)
        } catch {
            throw .undecodable(name, error)
        }
    }

    private static func decoded(_ file: OggOpusFile) throws(SoundFileError) -> Sound {
        var samples: [Int16] = []
        let count = (file.preSkip + file.sampleCount) * file.channels
        samples.reserveCapacity(count + longestPacket * file.channels)
        var packet = [Int16](repeating: 0, count: longestPacket * file.channels)
        do throws(OpusError) {
            var decoder = try OpusDecoder(channels: file.channels, gain: file.gain)
            for index in 0..<file.packetCount where samples.count < count {
                let made = try decode(file.packet(index), with: &decoder, into: &packet)
                samples.append(contentsOf: packet[..<(made * file.channels)])
            }
        } catch {
            throw SoundFileError(error)
        }
        return Sound(Array(samples.prefix(count).dropFirst(file.preSkip * file.channels)), channels: file.channels)
    }

    /// The longest Opus packet, 120 ms, in samples.
    private static let longestPacket = 5_760

    private static func decode(
        _ packet: Span<UInt8>, with decoder: inout OpusDecoder, into samples: inout [Int16]
    ) throws(OpusError) -> Int {
        var span = samples.mutableSpan
        return try decoder.decode(packet, into: &span)
    }

    private static func resampled(_ file: WaveFile) -> Sound {
        let original = Sound(file.samples, channels: file.channels)
        guard file.channels == 2 else { return Sound(resampled(original.samples, file.rate)) }
        let (left, right) = (resampled(original.channel(0), file.rate), resampled(original.channel(1), file.rate))
        return Sound(zip(left, right).flatMap { [$0, $1] }, channels: 2)
    }

    private static func resampled(_ original: [Int16], _ rate: Int) -> [Int16] {
        var resampler = Resampler(from: rate, to: 48_000, quality: 8)
        var samples = [Int16](repeating: 0, count: original.count * 48_000 / rate + 1_024)
        var (taken, made) = (0, 0)
        let capacity = samples.count
        while taken < original.count, made < capacity {
            var span = samples.mutableSpan
            var room = span._mutatingExtracting(made..<capacity)
            let step = resampler.process(original.span.extracting(taken..<original.count), into: &room)
            guard step.taken > 0 || step.made > 0 else { break }
            taken += step.taken
            made += step.made
        }
        samples.removeLast(samples.count - made)
        return samples
    }
}

extension SoundFileError {
    /// A packet that the buffer has no room for is longer than 120 ms, and malformed as well (RFC 6716 §3.4).
    fileprivate init(_ error: OpusError) {
        self =
            switch error {
            case .malformed, .noRoom: .malformedPacket
            case .failed(let code): .decoderFailed(code: code)
            }
    }
}
