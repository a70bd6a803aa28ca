extension EModel {
    /// The scale of a rating: listeners who know wideband audio expect more of it (ITU-T G.107, G.107.1).
    package enum Scale: Equatable, Sendable {
        /// Ratings up to 93.2 with default parameters.
        case narrowband
        /// Ratings up to 129.
        case wideband
    }

    /// The impairment by a codec, and its robustness to packet loss (ITU-T G.113).
    package struct Codec: Equatable, Sendable {
        /// The scale that the values belong to.
        package var scale: Scale
        /// The equipment impairment factor Ie, or Ie,wb, without loss.
        package var impairment: Double
        /// The packet loss robustness factor Bpl, or Bpl,wb: the larger it is, the better losses are concealed.
        package var robustness: Double

        /// Makes a codec of its parts, on the narrowband scale unless given; each parameter is the property of that
        /// name.
        package init(scale: Scale = .narrowband, impairment: Double, robustness: Double) {
            self.scale = scale
            self.impairment = impairment
            self.robustness = robustness
        }

        /// G.711 with packet loss concealment: Ie 0, Bpl 25.1 (G.113 Appendix I).
        package static let g711 = Codec(impairment: 0, robustness: 25.1)

        /// G.722 by bit rate (G.113 Appendix IV): Ie,wb is 13 at 64, 20 at 56 and 31 at 48 kbit/s.
        ///
        /// Bpl,wb is the project's own choice, that of G.711: both are concealed by repeating the last pitch period.
        package static func g722(bitsPerSecond: Int = 64_000) -> Codec {
            let impairment: Double =
                switch bitsPerSecond {
                case 64_000...: 13
                case 56_000...: 20
                default: 31
                }
            return Codec(scale: .wideband, impairment: impairment, robustness: 25.1)
        }

        /// Opus. The values are the project's own choice, because ITU-T has published none.
        ///
        /// Ie,wb falls linearly from 10 at 12 kbit/s and below to 0 at 32 kbit/s. Above that rate, published listening
        /// tests find little audible difference (Rämö and Toukomaa, *Voice Quality Characterization of IETF Opus
        /// Codec*, 2011). Bpl,wb is 20 for its concealment alone, and 30 with LBRR if it is unknown how much LBRR
        /// restored.
        ///
        /// - Parameters:
        ///   - bitsPerSecond: The target bit rate of the encoder during speech, not the mean with its pauses.
        ///   - hasUncountedRecovery: Whether in-band FEC is in use, and what it restores is not subtracted from the
        ///     loss.
        package static func opus(bitsPerSecond: Int = 32_000, hasUncountedRecovery: Bool = true) -> Codec {
            let missing = Double(32_000 - min(max(bitsPerSecond, 12_000), 32_000))
            return Codec(scale: .wideband, impairment: missing / 2_000, robustness: hasUncountedRecovery ? 30 : 20)
        }

        /// The codec of an encoding name, in upper or lower case; `nil` for codecs without known values.
        ///
        /// - Parameters:
        ///   - bitsPerSecond: The target bit rate of the encoder; `nil` for the usual one.
        ///   - hasUncountedRecovery: As in `opus`; other codecs have no FEC.
        package init?(named name: String, bitsPerSecond: Int? = nil, hasUncountedRecovery: Bool = true) {
            switch name.lowercased() {
            case "opus":
                self = .opus(bitsPerSecond: bitsPerSecond ?? 32_000, hasUncountedRecovery: hasUncountedRecovery)
            case "pcmu", "pcma": self = .g711
            case "g722": self = .g722(bitsPerSecond: bitsPerSecond ?? 64_000)
            default: return nil
            }
        }
    }
}
