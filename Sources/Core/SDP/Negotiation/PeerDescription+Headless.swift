extension PeerDescription {
    /// What a headless leg wants: one m-line of audio in both directions, with every codec that the gateway decodes and
    /// encodes by itself.
    ///
    /// Such a leg has no peer, and nobody writes or reads this description. It stands where the description of the
    /// other leg's peer is needed to answer an offer, or to make one.
    package static let headless = makeHeadless(.sendReceive)

    /// The same for a headless leg that holds the others.
    package static let holdingHeadless = makeHeadless(.sendOnly)

    private static func makeHeadless(_ direction: MediaDirection) -> PeerDescription {
        let codecs = MediaPolicy.engine.transcodable
        var audio = PeerMedia(vacantAt: 0, mid: "0", kind: .audio, codecs: codecs)
        audio.port = 9
        audio.refusal = nil
        audio.direction = direction
        return PeerDescription(role: .offer, isLite: false, groups: [], media: [audio])
    }
}
