/// How a conversation is rated by those who have it: the E-model (ITU-T G.107) in the short form for packet networks.
///
/// R = R₀ − Id − Ie,eff, with R₀ = 93.2 for what G.107 assumes by default of rooms, telephones and echo.
package struct EModel: Equatable, Sendable {
    /// What a codec costs (ITU-T G.113).
    package struct Codec: Equatable, Sendable {
        /// Ie, without any loss.
        package var impairment: Double
        /// Bpl: the larger, the better losses are hidden.
        package var robustness: Double

        package init(impairment: Double, robustness: Double) {
            self.impairment = impairment
            self.robustness = robustness
        }

        /// With concealment: G.113 Appendix I.
        package static let g711 = Codec(impairment: 0, robustness: 25.1)
        /// Without a value of its own on the narrowband scale, counted as G.711: its wider band is not rewarded here.
        package static let g722 = g711
        /// G.113 has no values for Opus. The project's own choice: transparent at the rates of calls, and with LBRR and its
        /// concealment somewhat more robust than G.711 with concealment.
        package static let opus = Codec(impairment: 0, robustness: 30)

        /// By encoding name; `nil` for codecs that no value is known for.
        package init?(named name: String) {
            switch name.lowercased() {
            case "opus": self = .opus
            case "pcmu", "pcma": self = .g711
            case "g722": self = .g722
            default: return nil
            }
        }
    }

    /// G.107 with default parameters.
    private static let basic = 93.2

    /// 0…93.2
    package let rating: Double

    /// - Parameters:
    ///   - delay: one way, mouth to ear, milliseconds.
    ///   - loss: share of packets, 0…1.
    ///   - burstRatio: 1 for losses that come at random, more for bursts (G.107 §7.5).
    package init(_ codec: Codec, delay: Double, loss: Double, burstRatio: Double = 1) {
        let percent = min(max(loss, 0), 1) * 100
        let effective =
            codec.impairment + (95 - codec.impairment) * percent / (percent / max(1, burstRatio) + codec.robustness)
        rating = min(max(Self.basic - Self.delayImpairment(delay) - effective, 0), Self.basic)
    }

    /// Id, in the approximation of Cole and Rosenbluth (2001) to G.107's curve: small up to 177 ms, steep beyond.
    private static func delayImpairment(_ delay: Double) -> Double {
        let delay = max(0, delay)
        return 0.024 * delay + (delay > 177.3 ? 0.11 * (delay - 177.3) : 0)
    }

    /// The mean opinion score that people would give, 1…4.5 (G.107 Annex B).
    package var mos: Double {
        switch rating {
        case ...0: 1
        case 100...: 4.5
        default: max(1, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6)
        }
    }

    package var band: QualityBand { QualityBand(mos: mos) }
}

/// Opinion scores in words.
package enum QualityBand: String, Sendable, CaseIterable {
    case excellent, good, fair, poor, bad

    package init(mos: Double) {
        self =
            switch mos {
            case 4.2...: .excellent
            case 4.1...: .good
            case 3.7...: .fair
            case 3.1...: .poor
            default: .bad
            }
    }
}
