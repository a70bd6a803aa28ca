import Primitives
import Synchronization

/// One source of randomness for all owners. The lock protects nothing but the generator.
final class SharedRandomSource: Sendable {
    private let source: Mutex<any RandomSource>

    init(_ source: some RandomSource) { self.source = Mutex(source) }

    /// A generator that draws from the shared one.
    var generator: Generator { Generator(shared: self) }

    struct Generator: RandomSource {
        fileprivate let shared: SharedRandomSource

        mutating func next() -> UInt64 { shared.source.withLock { $0.next() } }
    }
}
