/// A media leg among all of the process, whichever worker and call it moves to. A number is never given twice.
package struct LegNumber: Hashable, Sendable {
    package let rawValue: UInt64

    /// - Parameter serial: how many legs `worker` has made before.
    package init(_ serial: UInt64, madeBy worker: WorkerIndex) {
        rawValue = UInt64(worker.rawValue) << 48 | serial & 0xFFFF_FFFF_FFFF
    }
}
