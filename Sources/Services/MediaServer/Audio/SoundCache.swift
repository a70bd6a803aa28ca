internal import Audio
internal import Foundation
internal import Sockets

/// By what a newer version of a sound is told from an older one.
enum SoundVersion: Equatable {
    /// A file, by the time at which it was written.
    case modified(Date)
    /// A file of another server, by its entity tag; `nil`: it has none.
    case tagged(String?)
}

/// A cache of sounds read from files, limited in bytes and in number. The sounds that were requested longest ago are
/// removed first.
final class SoundCache: Sendable {
    private struct Item {
        var sound: Sound
        var version: SoundVersion
        var lastUse: UInt64
        /// What the sound takes, with its name and version.
        let bytes: Int

        init(_ sound: Sound, _ name: String, _ version: SoundVersion, lastUse: UInt64) {
            self.sound = sound
            self.version = version
            self.lastUse = lastUse
            let tagLength = if case .tagged(let tag?) = version { tag.utf8.count } else { 0 }
            bytes = sound.samples.count * MemoryLayout<Int16>.size + name.utf8.count + tagLength + SoundCache.overhead
        }
    }

    private struct State {
        var items: [String: Item] = [:]
        var bytes = 0
        var uses: UInt64 = 0
    }

    /// About what a sound takes besides its samples and texts, in bytes.
    private static let overhead = 512

    private let capacity: Int
    private let maximumCount: Int
    private let state = Lock(State())

    /// - Parameters:
    ///   - capacity: The bytes that all sounds may take.
    ///   - maximumCount: The most sounds.
    init(capacity: Int, maximumCount: Int = 4_096) {
        self.capacity = capacity
        self.maximumCount = maximumCount
    }

    /// Whether the cache has the file in its current version. If so, the sound counts as used.
    func isCurrent(_ name: String, _ version: SoundVersion) -> Bool {
        state.withLock { state in
            guard state.items[name]?.version == version else { return false }
            state.uses += 1
            state.items[name]?.lastUse = state.uses
            return true
        }
    }

    /// Adds a sound, or replaces an older version. This sound is kept whatever its size, because it is about to be
    /// played.
    func put(_ sound: Sound, _ name: String, _ version: SoundVersion) {
        state.withLock { state in
            state.uses += 1
            let item = Item(sound, name, version, lastUse: state.uses)
            state.bytes += item.bytes - (state.items[name]?.bytes ?? 0)
            state.items[name] = item
            while state.bytes > capacity || state.items.count > maximumCount,
                let oldest = state.items.lazy.filter({ $0.key != name })
                    .min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.items[oldest.key] = nil
                state.bytes -= oldest.value.bytes
            }
        }
    }

    /// The version of a sound; `nil`: it is not in the cache.
    func version(of name: String) -> SoundVersion? { state.withLock { $0.items[name]?.version } }

    func sound(of name: String) -> Sound? { state.withLock { $0.items[name]?.sound } }
}
