internal import CallControl
internal import CallRuntime
internal import Sockets

/// The streams that no worker has taken yet: each is taken with the command that names it.
final class AnnouncedStreams: Sendable {
    private let streams = Lock<[StreamID: MediaStream]>([:])

    func add(_ stream: MediaStream, as name: StreamID) { streams.withLock { $0[name] = stream } }

    /// Hands a stream over; `nil`: it was withdrawn, because its socket is gone.
    func take(_ name: StreamID) -> MediaStream? { streams.withLock { $0.removeValue(forKey: name) } }
}
