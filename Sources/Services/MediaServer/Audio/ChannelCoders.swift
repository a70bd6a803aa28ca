/// The encoders for one leg, by number of channels: as many as the source has and the peer accepts. A source may change
/// between one channel and two, so an encoder that is not in use is kept.
struct ChannelCoders {
    private let format: AudioFormat
    /// The encoder in use. It has as many channels as the last audio, if the peer accepts them.
    private(set) var sender: any AudioSender
    /// The encoder for the other number of channels, once both have been used.
    private var spare: (any AudioSender)?

    /// `nil` if no encoder can be made.
    init?(_ format: AudioFormat) {
        guard let sender = format.makeSender() else { return nil }
        self.format = format
        self.sender = sender
    }

    /// Changes to an encoder of `channels` channels if the peer accepts them and no packet is incomplete. Each packet
    /// states its own number of channels (RFC 6716 §3.1).
    mutating func takeUp(_ channels: Int) {
        guard channels != sender.channels, sender.isBetweenPackets, channels <= format.channels,
            let other = spare ?? format.makeSender(channels: channels)
        else { return }
        (sender, spare) = (other, sender)
        other.reset()
    }
}
