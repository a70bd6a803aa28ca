package import SDP

extension OpusParameters.Fault {
    /// The sentence without the name of the parameter, which a request and the configuration write differently: the
    /// value, that it is ignored, and the range.
    package var sentence: String {
        switch field {
        case .maximumPlaybackRate: "\(value) is ignored: RFC 7587 allows 8000 to 48000 Hz"
        case .maximumAverageBitrate: "\(value) is ignored: RFC 7587 allows 6000 to 510000 bit/s"
        case .packetTime: "\(value) is ignored: RFC 7587 allows 3 to 120 ms, each a multiple of 2.5 ms rounded up"
        }
    }
}
