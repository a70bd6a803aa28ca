internal import Audio
package import CallControl
internal import Foundation
internal import Primitives

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
