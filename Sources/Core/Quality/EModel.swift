/// How a conversation is rated by those who have it: the E-model (ITU-T G.107; G.107.1 for wideband).
///
///     R = Ro − Is − Id − Ie,eff + A
///
/// On the wideband scale Ro − Is is 129 (G.107.1 with default parameters).
///
/// Deviation: Id is that of G.107 on both scales. G.107.1 weighs echo somewhat more; the peers of this gateway cancel theirs.
package struct EModel: Equatable, Sendable {
    /// Ro − Is of G.107.1 with default parameters.
    package static let widebandMaximum = 129.0

    package let scale: Scale
    /// 0…100, on the wideband scale 0…129.
    package let rating: Double

    /// - Parameters:
    ///   - delay: Ta, one way, mouth to ear, milliseconds.
    ///   - loss: share of packets that nothing restored, 0…1.
    ///   - burstRatio: BurstR, 1 for losses that come at random, more for bursts (§7.5).
    package init(
        _ codec: Codec, delay: Double, loss: Double, burstRatio: Double = 1,
        parameters: TransmissionParameters = TransmissionParameters()
    ) {
        scale = codec.scale
        let (basis, maximum) =
            switch codec.scale {
            case .narrowband:
                (parameters.basicRatio - parameters.simultaneousImpairment(echoDelay: max(0, delay)), 100.0)
            case .wideband: (Self.widebandMaximum, Self.widebandMaximum)
            }
        let sum =
            basis - parameters.delayImpairment(delay)
            - Self.equipmentImpairment(codec, loss: loss, burstRatio: burstRatio)
            + parameters.advantage
        rating = min(max(sum, 0), maximum)
    }

    /// Ie,eff = Ie + (95 − Ie) · Ppl / (Ppl / BurstR + Bpl), Ppl in percent (§7.5).
    private static func equipmentImpairment(_ codec: Codec, loss: Double, burstRatio: Double) -> Double {
        let percent = min(max(loss, 0), 1) * 100
        return codec.impairment + (95 - codec.impairment) * percent / (percent / max(1, burstRatio) + codec.robustness)
    }

    /// MOS-CQE, 1…4.5: the mean opinion score that people would give (G.107 Annex B; G.107.1 takes R ÷ 1.29 to the same curve).
    ///
    /// Scores of the two scales say how good a call is for its kind; they do not compare a narrowband call with a wideband one.
    package var mos: Double { Self.mos(rating: scale == .wideband ? rating / 1.29 : rating) }

    /// The curve of G.107 Annex B. It dips below 1 for ratings under 6.5, which no score can.
    package static func mos(rating: Double) -> Double {
        switch rating {
        case ...0: 1
        case 100...: 4.5
        default: max(1, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6)
        }
    }

    package var band: QualityBand { QualityBand(mos: mos) }
}
