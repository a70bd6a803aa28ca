import AudioStreams
import CallControl

/// A stream that the gateway opens, as the owner of its application knows it.
struct OutgoingStream: Sendable {
    /// What follows for a stream, and takes a while.
    enum Step: Sendable {
        /// Its socket is open: the call is asked to let it carry the audio of the leg.
        case attach
        /// Its program is given up.
        case fallBack(StreamOrder.Fallback)
        /// A fallback that has waited may happen now.
        case fallBackLate

        /// Whether what is configured for calls about which nobody decides may happen.
        var isOfApplication: Bool {
            switch self {
            case .fallBack(let fallback): fallback == .application
            case .fallBackLate: true
            case .attach: false
            }
        }
    }

    /// No other order of the process has the same number.
    let number: UInt64
    /// What the application asked for.
    let order: StreamOrder
    /// When the program is tried.
    var dialing: StreamDialing
    /// The number of the last socket. News of others are old.
    var socket = 0
    /// The queues of that socket.
    var link = StreamLink()
    /// The name that the media plane has for that socket; `nil`: it has none yet.
    var name: StreamID?
    /// Gives that socket up.
    var cancel: @Sendable () -> Void = {}
}
