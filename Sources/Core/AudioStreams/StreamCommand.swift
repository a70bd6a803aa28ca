/// What a bot says on its stream, in no dialect's words.
package enum StreamCommand: Hashable, Sendable {
    /// Audio for the caller in the format of the stream, of any length; for Opus one packet.
    case audio([UInt8])
    /// The audio before it is complete: what is left of it does not wait for more to fill a frame.
    case finish
    /// The bot is told when the audio before it has been heard, under this name.
    case mark(String)
    /// What waits to be heard is dropped.
    case clear
    /// Playback stops for now. Audio that comes meanwhile waits.
    case pause
    /// Playback goes on where it stopped.
    case resume
    /// DTMF digits for the other side: `0…9 A…D * #`, and `,` for a pause.
    case keys(String)
    /// The bot is told once when nothing waits any more.
    case drain
    /// The bot asks how much waits.
    case status
    /// The call is answered.
    case answer
    /// The leg ends, and with it the stream.
    case end
}
