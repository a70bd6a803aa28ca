internal import Audio
internal import Foundation
internal import Sockets

/// A cache of sounds read from files, limited in bytes. The sounds that were requested longest ago are removed first.
final class SoundCache: Sendable {
    private struct Item {
        var sound: Sound
        var modified: Date
        var lastUse: UInt64

        var bytes: Int { sound.samples.count * MemoryLayout<Int16>.size }
    }

    private struct State {
        var items: [String: Item] = [:]
        var bytes = 0
        var uses: UInt64 = 0
    }

    private let capacity: Int
    private let state = Lock(State())

    init(capacity: Int) { self.capacity = capacity }

    /// Whether the cache has the file in its current version. If so, the sound counts as used.
    func isCurrent(_ name: String, _ modified: Date) -> Bool {
        state.withLock { state in
            guard state.items[name]?.modified == modified else { return false }
            state.uses += 1
            state.items[name]?.lastUse = state.uses
            return true
        }
    }

    /// Adds a sound, or replaces an older version. This sound is kept whatever its size, because it is about to be
    /// played.
    func put(_ sound: Sound, _ name: String, _ modified: Date) {
        state.withLock { state in
            state.uses += 1
            let item = Item(sound: sound, modified: modified, lastUse: state.uses)
            state.bytes += item.bytes - (state.items[name]?.bytes ?? 0)
            state.items[name] = item
            while state.bytes > capacity,
                let oldest = state.items.filter({ $0.key != name }).min(by: { $0.value.lastUse < $1.value.lastUse })
            {
                state.items[oldest.key] = nil
                state.bytes -= oldest.value.bytes
            }
        }
    }

    func sound(of name: String) -> Sound? { state.withLock { $0.items[name]?.sound } }
}
