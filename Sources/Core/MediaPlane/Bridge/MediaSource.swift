/// The source of what a leg hears or sees. Each kind of media of a leg has one source at a time.
package enum MediaSource: Equatable, Sendable {
    /// Nothing is sent.
    case silence
    /// Another leg: its packets are relayed, or its audio is transcoded if the two share no codec.
    case leg(LegIndex)
    /// All other legs with this source. Video is not mixed; the owner of the bridge chooses a leg for it.
    case mix
    /// A player of the gateway, by a number that its owner assigns.
    case player(UInt32)

    /// The leg, if the source is one; otherwise `nil`.
    var leg: LegIndex? {
        if case .leg(let index) = self { index } else { nil }
    }
}

/// How the source of a leg is sent on one of its m-lines.
package enum LineFeed: Equatable, Sendable {
    /// Nothing is sent, because the m-line or the source forbids it.
    case nothing
    /// Packets of an m-line of another leg, with another header.
    case relayed(from: LegIndex, line: Int)
    /// Packets that the gateway encodes from the audio of another leg.
    case transcoded(from: LegIndex, line: Int)
    /// Packets that the gateway encodes from a player or a mix.
    case generated

    /// Whether the gateway encodes this audio itself.
    package var isMadeHere: Bool {
        switch self {
        case .transcoded, .generated: true
        case .nothing, .relayed: false
        }
    }
}

/// An m-line that gets the packets of another one.
struct Receiver: Equatable, Sendable {
    var leg: LegIndex
    var line: Int
}
