internal import Sockets

/// The memory of sounds that were fetched: of those that are cached, and of those that play or wait to be played.
final class SoundMemory: Sendable {
    /// The bytes that the sounds may take together.
    let limit: Int
    private let taken = Lock(0)

    init(limit: Int) { self.limit = limit }

    /// Takes bytes for a sound; they are given back when nobody has the result any more.
    ///
    /// - Returns: `nil` if there are not so many left.
    func take(_ bytes: Int) -> Share? {
        let isTaken = taken.withLock { taken in
            guard taken + bytes <= limit else { return false }
            taken += bytes
            return true
        }
        return isTaken ? Share(bytes, of: self) : nil
    }

    private func giveBack(_ bytes: Int) { taken.withLock { $0 -= bytes } }

    /// The memory of one sound.
    final class Share: Sendable {
        private let bytes: Int
        private let memory: SoundMemory

        fileprivate init(_ bytes: Int, of memory: SoundMemory) {
            self.bytes = bytes
            self.memory = memory
        }

        deinit { memory.giveBack(bytes) }
    }
}
