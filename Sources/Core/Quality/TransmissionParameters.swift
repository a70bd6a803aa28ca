/// The parameters of telephones, rooms and lines for the E-model, and the impairments that follow from them (ITU-T
/// G.107 §7, table 2).
///
/// A gateway cannot measure them; the defaults are those that G.107 gives for planning.
package struct TransmissionParameters: Equatable, Sendable {
    /// SLR, the send loudness rating, in dB.
    package var sendLoudness = 8.0
    /// RLR, the receive loudness rating, in dB.
    package var receiveLoudness = 2.0
    /// STMR, the sidetone masking rating, in dB.
    package var sidetoneMasking = 15.0
    /// Ds, the D-value of the telephone at the sending side: how much less it picks up of the room than of the voice.
    package var sendDeviceValue = 3.0
    /// Dr, the D-value of the telephone at the receiving side.
    package var receiveDeviceValue = 3.0
    /// TELR, the talker echo loudness rating, in dB: the attenuation of the talker's echo.
    package var talkerEchoLoudness = 65.0
    /// WEPL, the weighted echo path loss, in dB.
    package var weightedEchoPathLoss = 110.0
    /// qdu: the number of quantization distortion units, that is of conversions between analogue and digital.
    package var quantizingUnits = 1.0
    /// Nc, the circuit noise, in dBm0p.
    package var circuitNoise = -70.0
    /// Nfor, the noise floor at the receiving side, in dBmp.
    package var noiseFloor = -64.0
    /// Ps, the room noise at the sending side, in dB(A).
    package var sendRoomNoise = 35.0
    /// Pr, the room noise at the receiving side, in dB(A).
    package var receiveRoomNoise = 35.0
    /// sT, the delay sensitivity: how much delay disturbs these listeners (G.107 §7.4, table 1).
    package var delaySensitivity = 1.0
    /// mT, the minimal perceivable delay, in milliseconds.
    package var minimalPerceivableDelay = 100.0
    /// A, the advantage factor: the impairment that users accept in exchange for access.
    package var advantage = 0.0

    /// Makes the default parameters of G.107.
    package init() {}

    // MARK: Noise (§7.2)

    /// Ro, the basic signal-to-noise ratio.
    package var basicRatio: Double { 15 - 1.5 * (sendLoudness + totalNoise) }

    private var overallLoudness: Double { sendLoudness + receiveLoudness }

    /// No, the sum of all noise, referred to the 0 dBr point of the line.
    private var totalNoise: Double {
        let fromSender = sendRoomNoise - overallLoudness - sendDeviceValue - 14
        let sent = sendRoomNoise - sendLoudness - sendDeviceValue - 100 + 0.004 * fromSender * fromSender
        // LSTR = STMR + Dr.
        let listenerSidetone = sidetoneMasking + receiveDeviceValue
        let effective = receiveRoomNoise + 10 * Self.log10(1 + Self.decibels((10 - listenerSidetone)))
        let received = receiveLoudness - 121 + effective + 0.008 * (effective - 35) * (effective - 35)
        let floor = noiseFloor + receiveLoudness
        return 10
            * Self.log10(
                Self.decibels(circuitNoise) + Self.decibels(sent) + Self.decibels(received) + Self.decibels(floor))
    }

    // MARK: Impairments simultaneous with the voice (§7.3)

    /// Is, the simultaneous impairment factor: excessive loudness, non-optimum sidetone, and quantization.
    ///
    /// - Parameter echoDelay: T, the one-way delay of the echo in milliseconds.
    package func simultaneousImpairment(echoDelay: Double = 0) -> Double {
        loudnessImpairment + sidetoneImpairment(echoDelay: echoDelay) + quantizingImpairment
    }

    /// Iolr, by excessive loudness.
    private var loudnessImpairment: Double {
        let excess = (overallLoudness + 0.2 * (64 + totalNoise - receiveLoudness)) / 8
        return 20 * (Self.power(1 + Self.power(excess, 8), 1 / 8) - excess)
    }

    /// Ist, by non-optimum sidetone.
    private func sidetoneImpairment(echoDelay: Double) -> Double {
        let masking =
            -10
            * Self.log10(
                Self.decibels(-sidetoneMasking) + Self.exp(-echoDelay / 4) * Self.decibels(-talkerEchoLoudness))
        return 12 * Self.hill((masking - 13) / 6, 8) - 28 * Self.hill((masking + 1) / 19.4, 35) - 13
            * Self.hill((masking - 3) / 33, 13) + 29
    }

    /// Iq, by quantization.
    private var quantizingImpairment: Double {
        let q = 37 - 15 * Self.log10(quantizingUnits)
        let g = 1.07 + 0.258 * q + 0.0602 * q * q
        let y = (basicRatio - 100) / 15 + 46 / 8.4 - g / 9
        let z = 46.0 / 30 - g / 40
        return 15 * Self.log10(1 + Self.power(10, y) + Self.power(10, z))
    }

    // MARK: Delay (§7.4)

    /// Id, the delay impairment factor, of a digital path: the echo comes from the far end and has the delay of
    /// the path (T = Ta, Tr = 2·T).
    ///
    /// - Parameter delay: Ta, the one-way delay from mouth to ear in milliseconds; negative values count as 0.
    package func delayImpairment(_ delay: Double) -> Double {
        let delay = max(0, delay)
        return talkerEchoImpairment(delay) + listenerEchoImpairment(2 * delay) + interactionImpairment(delay)
    }

    /// Idte, by talker echo. Sidetones outside 9…20 dB, which mask echo or add to it, are left out, because the gateway
    /// does not know them.
    private func talkerEchoImpairment(_ delay: Double) -> Double {
        guard delay >= 1 else { return 0 }
        let echo =
            talkerEchoLoudness - 40 * Self.log10((1 + delay / 10) / (1 + delay / 150)) + 6
            * Self.exp(-0.3 * delay * delay)
        let difference = (-1.5 * (totalNoise - receiveLoudness) - (80 + 2.5 * (echo - 14))) / 2
        return (difference + (difference * difference + 100).squareRoot() - 1) * (1 - Self.exp(-delay))
    }

    /// Idle, by listener echo.
    private func listenerEchoImpairment(_ roundTrip: Double) -> Double {
        let echo = 10.5 * (weightedEchoPathLoss + 7) / (roundTrip + 1).squareRoot().squareRoot()
        let difference = (basicRatio - echo) / 2
        return difference + (difference * difference + 169).squareRoot()
    }

    /// Idd, by delay: even without echo, talkers interrupt each other.
    private func interactionImpairment(_ delay: Double) -> Double {
        guard delay > minimalPerceivableDelay else { return 0 }
        let x = Self.log10(delay / minimalPerceivableDelay) / Self.log10(2)
        let order = 6 * delaySensitivity
        return 25 * (Self.hill(x, order) - 3 * Self.hill(x / 3, order) + 2)
    }

    // MARK: Arithmetic

    /// (1 + xⁿ)^(1/n), for even and odd n. Where a negative x matters, n is even.
    private static func hill(_ x: Double, _ n: Double) -> Double {
        let isOdd = n.truncatingRemainder(dividingBy: 2) == 1
        let raised = power(abs(x), n)
        return power(max(0, 1 + (x < 0 && isOdd ? -raised : raised)), 1 / n)
    }

    private static func decibels(_ level: Double) -> Double { ElementaryFunctions.powerOf10(level / 10) }
    private static func log10(_ x: Double) -> Double { ElementaryFunctions.logarithm10(x) }
    private static func exp(_ x: Double) -> Double { ElementaryFunctions.exponential(x) }
    private static func power(_ base: Double, _ exponent: Double) -> Double {
        ElementaryFunctions.power(base, exponent)
    }
}
