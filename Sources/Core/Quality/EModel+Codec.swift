extension EModel {
    /// What ratings are measured against: people who know wideband expect more of it (ITU-T G.107, G.107.1).
    package enum Scale: Equatable, Sendable {
        /// Up to 93.2 with default parameters.
        case narrowband
        /// Up to 129.
        case wideband
    }

    /// What a codec costs (ITU-T G.113).
    package struct Codec: Equatable, Sendable {
        package var scale: Scale
        /// Ie or Ie,wb: without any loss.
        package var impairment: Double
        /// Bpl or Bpl,wb: the larger, the better losses are hidden.
        package var robustness: Double

        package init(scale: Scale = .narrowband, impairment: Double, robustness: Double) {
            self.scale = scale
            self.impairment = impairment
            self.robustness = robustness
        }

        /// With concealment: Ie 0, Bpl 25.1 (G.113 Appendix I).
        package static let g711 = Codec(impairment: 0, robustness: 25.1)
        /// Losses are silent: Ie 0, Bpl 4.3 (G.113 Appendix I).
        package static let g711WithoutConcealment = Codec(impairment: 0, robustness: 4.3)

        /// Ie,wb by bit rate (G.113 Appendix IV): 13 at 64, 20 at 56, 31 at 48 kbit/s.
        ///
        /// Bpl,wb is the project's own choice, that of G.711: both are concealed by repeating the last period.
        package static func g722(bitsPerSecond: Int = 64_000) -> Codec {
            let impairment: Double =
                switch bitsPerSecond {
                case 64_000...: 13
                case 56_000...: 20
                default: 31
                }
            return Codec(scale: .wideband, impairment: impairment, robustness: 25.1)
        }

        /// The project's own choice: ITU-T has published no values for Opus.
        ///
        /// Ie,wb goes in a line from 0 at 32 kbit/s, from where on published listening tests find little left to hear (Rämö and
        /// Toukomaa, *Voice Quality Characterization of IETF Opus Codec*, 2011), to 10 at 12 kbit/s and below. Bpl,wb is 20 for
        /// its concealment alone, and 30 with LBRR as long as nobody knows how much it restored.
        ///
        /// - Parameters:
        ///   - bitsPerSecond: What the encoder aims at while somebody speaks, not the mean with its pauses.
        ///   - hasUncountedRecovery: In-band FEC is in use, and what it restores is not subtracted from the loss.
        package static func opus(bitsPerSecond: Int = 32_000, hasUncountedRecovery: Bool = true) -> Codec {
            let missing = Double(32_000 - min(max(bitsPerSecond, 12_000), 32_000))
            return Codec(scale: .wideband, impairment: missing / 2_000, robustness: hasUncountedRecovery ? 30 : 20)
        }

        /// By encoding name; `nil` for codecs that no value is known for.
        ///
        /// - Parameters:
        ///   - bitsPerSecond: What the encoder aims at; `nil` for what is usual.
        ///   - hasUncountedRecovery: As of `opus`; other codecs have none.
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
