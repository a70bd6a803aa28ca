/// Frames of a bot that wait until its session takes them, in their order, also those of a socket that is gone.
package struct WaitingFrames: Equatable, Sendable {
    /// Further frames are taken as long as fewer bytes wait (``StreamFrame/cost``). It is several times what one socket
    /// can bring while it is not read, so that only a bot that loses one full socket after the other comes to it.
    package static let limit = 4 << 20

    private var frames: ArraySlice<StreamFrame> = []
    private var bytes = 0

    /// Makes a queue in which nothing waits.
    package init() {}

    /// How many frames wait.
    package var count: Int { frames.count }

    /// Whether nothing waits.
    package var isEmpty: Bool { frames.isEmpty }

    /// Frames have come. Those beyond the limit are left out, from the first of them on.
    ///
    /// - Returns: how many were left out.
    package mutating func append(_ more: [StreamFrame]) -> Int {
        var count = 0
        while count < more.count, bytes < Self.limit {
            bytes += more[count].cost
            count += 1
        }
        // What was taken from a slice stays in its memory as long as the slice.
        if frames.isEmpty { frames = more[..<count] } else { frames = ArraySlice(Array(frames) + more[..<count]) }
        return more.count - count
    }

    /// Takes the frame that has come first; `nil`: none waits.
    package mutating func popFirst() -> StreamFrame? {
        guard let frame = frames.popFirst() else { return nil }
        bytes -= frame.cost
        if frames.isEmpty { frames = [] }
        return frame
    }
}
