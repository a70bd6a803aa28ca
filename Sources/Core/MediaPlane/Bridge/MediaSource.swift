/// Where what a leg hears or sees comes from; each kind of media of a leg has one source at a time.
package enum MediaSource: Equatable, Sendable {
    /// Nothing is sent.
    case silence
    /// Another leg: its packets as they are, or its audio coded anew where the two share no codec.
    case leg(LegIndex)
    /// All other legs that have this source too. Of video there is no mix: the owner of the bridge chooses a leg.
    case mix
    /// A player of the gateway, by a number that its owner gives it.
    case player(UInt32)

    /// The leg whose media this is, if it is one.
    var leg: LegIndex? {
        if case .leg(let index) = self { index } else { nil }
    }
}

/// What becomes of a leg's source on one of its m-lines.
package enum LineFeed: Equatable, Sendable {
    /// Nothing is sent; the m-line or the source forbids it.
    case nothing
    /// Packets of an m-line of another leg, with another header.
    case relayed(from: LegIndex, line: Int)
    /// Packets that the gateway makes itself, from audio of another leg.
    case transcoded(from: LegIndex, line: Int)
    /// Packets that the gateway makes itself, from a player or a mix.
    case generated

    /// Whether the gateway codes this audio itself.
    package var isMadeHere: Bool {
        switch self {
        case .transcoded, .generated: true
        case .nothing, .relayed: false
        }
    }
}

/// One place that packets of an m-line go to.
struct Receiver: Equatable, Sendable {
    var leg: LegIndex
    var line: Int
}
