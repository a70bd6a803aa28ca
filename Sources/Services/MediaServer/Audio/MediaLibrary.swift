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
    /// The longest sound of the folder, in seconds.
    private static let longest = OggOpusFile.maximumSamples / 48_000
    /// The longest sound that was fetched, in seconds: ten minutes, 115 MB in stereo. A file of 20 kB can be as long.
    package static let maximumFetchedSeconds = 10 * 60

    private let folder: String?
    private let cache: SoundCache
    /// The memory of sounds that were fetched.
    private let memory: SoundMemory
    private let longestFetched: Int
    private let reader = Reader()

    /// Makes an empty library.
    ///
    /// - Parameters:
    ///   - folder: The folder of the files; `nil` if none is configured, and then every `load` throws.
    ///   - capacity: Bytes of samples that are cached, 700 MB unless given. Fetched sounds that are cached, play or
    ///     wait take at most twice as many.
    ///   - longestFetched: The longest sound that is fetched, in seconds; ten minutes unless given.
    package init(folder: String?, capacity: Int = maximumCachedBytes, longestFetched: Int = maximumFetchedSeconds) {
        self.folder = folder
        self.longestFetched = longestFetched
        cache = SoundCache(capacity: capacity)
        memory = SoundMemory(limit: 2 * capacity)
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
            library.cache.put(try library.fetched(bytes, url), url, .tagged(tag))
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
    /// - Throws: `undecodable`; `notFetched` if there is no memory for it.
    func take(_ bytes: [UInt8], from url: String, tag: String?) async throws(MediaFileError) {
        try await reader.take(bytes, from: url, tag: tag, for: self)
    }

    /// The entity tag of the file of this URL that is in the cache; `nil`: there is none, or it has none.
    func tag(of url: String) -> String? { if case .tagged(let tag) = cache.version(of: url) { tag } else { nil } }

    /// Whether the file of this URL is in the cache with this entity tag.
    func isCurrent(_ url: String, tag: String) -> Bool { cache.isCurrent(url, .tagged(tag)) }

    private func fetched(_ bytes: [UInt8], _ url: String) throws(MediaFileError) -> Sound {
        do throws(SoundFileError) {
            let file = try SoundFile(parsing: bytes, longest: longestFetched)
            if let share = memory.take(file.decodedBytes) {
                var sound = try file.decoded()
                sound.memory = share
                return sound
            }
        } catch {
            throw .undecodable(url, error)
        }
        throw .notFetched(url, .noMemory)
    }

    // MARK: Decoding

    private static func read(_ url: URL, _ name: String) throws(MediaFileError) -> Sound {
        let bytes: [UInt8]
        do {
            bytes = [UInt8](try Data(contentsOf: url))
        } catch {
            throw .unreadable(name)
        }
        do throws(SoundFileError) {
            return try SoundFile(parsing: bytes, longest: longest).decoded()
        } catch {
            throw .undecodable(name, error)
        }
    }
}

/// A file of one of the formats that are played, before it is made a sound.
private enum SoundFile {
    case opus(OggOpusFile)
    case wave(WaveFile)

    /// - Parameter longest: The longest sound that is accepted, in seconds.
    init(parsing bytes: [UInt8], longest: Int) throws(SoundFileError) {
        if OggOpusFile.isOgg(bytes.span) {
            self = .opus(try OggOpusFile(parsing: bytes.span, upTo: longest * 48_000))
            return
        }
        let file = try WaveFile(parsing: bytes.span)
        guard file.samples.count / file.channels <= longest * file.rate else {
            throw .tooLong(minutes: longest / 60)
        }
        self = .wave(file)
    }

    /// The bytes of the samples of the sound.
    var decodedBytes: Int {
        let samples =
            switch self {
            case .opus(let file): file.sampleCount * file.channels
            case .wave(let file): file.samples.count * 48_000 / file.rate
            }
        return samples * MemoryLayout<Int16>.size
    }

    func decoded() throws(SoundFileError) -> Sound {
        switch self {
        case .opus(let file): try Self.decoded(file)
        case .wave(let file):
            file.rate == 48_000 ? Sound(file.samples, channels: file.channels) : Self.resampled(file)
        }
    }

    private static func decoded(_ file: OggOpusFile) throws(SoundFileError) -> Sound {
        var samples: [Int16] = []
        let count = file.sampleCount * file.channels
        samples.reserveCapacity(count)
        var skipped = file.preSkip * file.channels
        var packet = [Int16](repeating: 0, count: longestPacket * file.channels)
        do throws(OpusError) {
            var decoder = try OpusDecoder(channels: file.channels, gain: file.gain)
            for index in 0..<file.packetCount where samples.count < count {
                let made = try decode(file.packet(index), with: &decoder, into: &packet) * file.channels
                let start = min(skipped, made)
                skipped -= start
                samples.append(contentsOf: packet[start..<min(made, start + count - samples.count)])
            }
        } catch {
            throw SoundFileError(error)
        }
        return Sound(samples, channels: file.channels)
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
        var samples: [Int16] = []
        samples.reserveCapacity(2 * left.count)
        for (left, right) in zip(left, right) {
            samples.append(left)
            samples.append(right)
        }
        return Sound(samples, channels: 2)
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
