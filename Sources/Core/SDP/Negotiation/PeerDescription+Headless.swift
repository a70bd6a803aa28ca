extension PeerDescription {
    /// What a headless leg wants: one m-line of audio in both directions, with every codec that the gateway decodes and
    /// encodes by itself.
    ///
    /// Such a leg has no peer, and nobody writes or reads this description. It stands where the description of the
    /// other leg's peer is needed to answer an offer, or to make one.
    package static let headless: PeerDescription = {
        let codecs = MediaPolicy.engine.transcodable
        var audio = PeerMedia(vacantAt: 0, mid: "0", kind: .audio, codecs: codecs)
        audio.port = 9
        audio.refusal = nil
        audio.direction = .sendReceive
        return PeerDescription(role: .offer, isLite: false, groups: [], media: [audio])
    }()
}
