/// The number of a media leg, unique in the process, whichever worker and call it moves to. It is never reused.
package struct LegNumber: Hashable, Sendable {
    /// The number: 16 bits of the worker that made the leg, and 48 bits of a serial number.
    package let rawValue: UInt64

    /// Makes the number of a new leg.
    ///
    /// - Parameters:
    ///   - serial: The number of legs that `worker` has made before.
    ///   - worker: The worker that makes the leg.
    package init(_ serial: UInt64, madeBy worker: WorkerIndex) {
        rawValue = UInt64(worker.rawValue) << 48 | serial & 0xFFFF_FFFF_FFFF
    }
}
