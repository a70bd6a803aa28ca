internal import Primitives
internal import Sockets

/// The transport of a worker, and the time of the input that it handles.
///
/// Each worker has one context, which is passed to every step (`inout`) without being copied or allocated. The time is
/// constant while one input is handled, and never goes back.
struct WorkerContext: ~Copyable {
    var transport: PacketTransport
    /// The time at which the current input arrived, or the deadline was found to be due.
    private(set) var now = MonotonicClock.now

    init(transport: consuming PacketTransport) { self.transport = transport }

    /// Reads the clock. It is called before the next input is handled, if that input needs its own time.
    mutating func readClock() { now = MonotonicClock.now }
}
