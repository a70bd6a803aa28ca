import Primitives

/// The quality of a conversation as its participants would rate it: the E-model (ITU-T G.107; G.107.1 for wideband).
///
///     R = Ro − Is − Id − Ie,eff + A
///
/// On the wideband scale Ro − Is is 129 (G.107.1 with default parameters).
///
/// Deviation: Id is that of G.107 on both scales. G.107.1 gives echo somewhat more weight, but the peers of this
/// gateway cancel their echo.
package struct EModel: Equatable, Sendable {
    /// Ro − Is of G.107.1 with default parameters.
    package static let widebandMaximum = 129.0

    /// The scale of the rating, which is that of the codec.
    package let scale: Scale
    /// The rating factor R: 0…100, or 0…129 on the wideband scale.
    package let rating: Double

    /// Rates a conversation.
    ///
    /// - Parameters:
    ///   - codec: The impairment and robustness of the codec.
    ///   - delay: Ta, the one-way delay from mouth to ear.
    ///   - loss: Ppl as a fraction: packets lost and not restored, 0…1.
    ///   - burstRatio: BurstR: 1 for random losses, more for bursts (§7.5); values below 1 count as 1.
    ///   - parameters: The telephones and the network; the defaults of G.107 unless given.
    package init(
        _ codec: Codec, delay: Duration, loss: Double, burstRatio: Double = 1,
        parameters: TransmissionParameters = TransmissionParameters()
    ) {
        scale = codec.scale
        let delay = delay.inMilliseconds  // as the recommendation counts
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

    /// Ie,eff = Ie + (95 − Ie) · Ppl / (Ppl / BurstR + Bpl), with Ppl in percent (§7.5).
    private static func equipmentImpairment(_ codec: Codec, loss: Double, burstRatio: Double) -> Double {
        let percent = min(max(loss, 0), 1) * 100
        return codec.impairment + (95 - codec.impairment) * percent / (percent / max(1, burstRatio) + codec.robustness)
    }

    /// MOS-CQE, 1…4.5: the estimated mean opinion score (G.107 Annex B; G.107.1 applies the same curve to R ÷ 1.29).
    ///
    /// The scores of both scales show how good a call is of its kind. They do not compare a narrowband call with a
    /// wideband one.
    package var mos: Double { Self.mos(rating: scale == .wideband ? rating / 1.29 : rating) }

    /// The mean opinion score for a narrowband rating, by the curve of G.107 Annex B. The curve falls below 1 for
    /// ratings under 6.5, and is limited to 1 there.
    package static func mos(rating: Double) -> Double {
        switch rating {
        case ...0: 1
        case 100...: 4.5
        default: max(1, 1 + 0.035 * rating + rating * (rating - 60) * (100 - rating) * 7e-6)
        }
    }

    /// The quality band of the mean opinion score.
    package var band: QualityBand { QualityBand(mos: mos) }
}
