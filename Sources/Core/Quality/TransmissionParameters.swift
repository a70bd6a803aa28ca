/// What the E-model has to know of telephones, rooms and lines, and what it makes of them (ITU-T G.107 §7, table 2).
///
/// A gateway sees none of this; the defaults are those that G.107 gives for planning.
package struct TransmissionParameters: Equatable, Sendable {
    /// SLR, dB.
    package var sendLoudness = 8.0
    /// RLR, dB.
    package var receiveLoudness = 2.0
    /// STMR, dB.
    package var sidetoneMasking = 15.0
    /// Ds and Dr: how much less a telephone takes of the room than of the voice.
    package var sendDeviceValue = 3.0
    package var receiveDeviceValue = 3.0
    /// TELR, dB: what is left of the talker's voice when it comes back.
    package var talkerEchoLoudness = 65.0
    /// WEPL, dB.
    package var weightedEchoPathLoss = 110.0
    /// qdu: how often the path goes from analogue to digital and back.
    package var quantizingUnits = 1.0
    /// Nc, dBm0p.
    package var circuitNoise = -70.0
    /// Nfor, dBmp.
    package var noiseFloor = -64.0
    /// Ps and Pr, dB(A).
    package var sendRoomNoise = 35.0
    package var receiveRoomNoise = 35.0
    /// sT: how much delay disturbs these people (G.107 §7.4, table 1).
    package var delaySensitivity = 1.0
    /// mT, milliseconds: the delay that nobody notices.
    package var minimalPerceivableDelay = 100.0
    /// A: what people forgive for the sake of being reached.
    package var advantage = 0.0

    package init() {}

    // MARK: Noise (§7.2)

    /// Ro: the signal-to-noise ratio.
    package var basicRatio: Double { 15 - 1.5 * (sendLoudness + totalNoise) }

    private var overallLoudness: Double { sendLoudness + receiveLoudness }

    /// No: all noise, as seen from the middle of the line.
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

    // MARK: What comes with the voice (§7.3)

    /// Is: too loud, a sidetone that is off, quantization.
    ///
    /// - Parameter echoDelay: T, milliseconds, one way.
    package func simultaneousImpairment(echoDelay: Double = 0) -> Double {
        loudnessImpairment + sidetoneImpairment(echoDelay: echoDelay) + quantizingImpairment
    }

    /// Iolr.
    private var loudnessImpairment: Double {
        let excess = (overallLoudness + 0.2 * (64 + totalNoise - receiveLoudness)) / 8
        return 20 * (Self.power(1 + Self.power(excess, 8), 1 / 8) - excess)
    }

    /// Ist.
    private func sidetoneImpairment(echoDelay: Double) -> Double {
        let masking =
            -10
            * Self.log10(
                Self.decibels(-sidetoneMasking) + Self.exp(-echoDelay / 4) * Self.decibels(-talkerEchoLoudness))
        return 12 * Self.hill((masking - 13) / 6, 8) - 28 * Self.hill((masking + 1) / 19.4, 35) - 13
            * Self.hill((masking - 3) / 33, 13) + 29
    }

    /// Iq.
    private var quantizingImpairment: Double {
        let q = 37 - 15 * Self.log10(quantizingUnits)
        let g = 1.07 + 0.258 * q + 0.0602 * q * q
        let y = (basicRatio - 100) / 15 + 46 / 8.4 - g / 9
        let z = 46.0 / 30 - g / 40
        return 15 * Self.log10(1 + Self.power(10, y) + Self.power(10, z))
    }

    // MARK: Delay (§7.4)

    /// Id of a line without wires: the echo is that of the far end, as late as the path is long (T = Ta, Tr = 2·T).
    ///
    /// - Parameter delay: Ta, milliseconds, one way, mouth to ear.
    package func delayImpairment(_ delay: Double) -> Double {
        let delay = max(0, delay)
        return talkerEchoImpairment(delay) + listenerEchoImpairment(2 * delay) + interactionImpairment(delay)
    }

    /// Idte. Sidetones outside 9…20 dB, which mask echo or add to it, are left out: nobody here knows them.
    private func talkerEchoImpairment(_ delay: Double) -> Double {
        guard delay >= 1 else { return 0 }
        let echo =
            talkerEchoLoudness - 40 * Self.log10((1 + delay / 10) / (1 + delay / 150)) + 6
            * Self.exp(-0.3 * delay * delay)
        let difference = (-1.5 * (totalNoise - receiveLoudness) - (80 + 2.5 * (echo - 14))) / 2
        return (difference + (difference * difference + 100).squareRoot() - 1) * (1 - Self.exp(-delay))
    }

    /// Idle.
    private func listenerEchoImpairment(_ roundTrip: Double) -> Double {
        let echo = 10.5 * (weightedEchoPathLoss + 7) / (roundTrip + 1).squareRoot().squareRoot()
        let difference = (basicRatio - echo) / 2
        return difference + (difference * difference + 169).squareRoot()
    }

    /// Idd: even without any echo, people interrupt each other.
    private func interactionImpairment(_ delay: Double) -> Double {
        guard delay > minimalPerceivableDelay else { return 0 }
        let x = Self.log10(delay / minimalPerceivableDelay) / Self.log10(2)
        let order = 6 * delaySensitivity
        return 25 * (Self.hill(x, order) - 3 * Self.hill(x / 3, order) + 2)
    }

    // MARK: Arithmetic

    /// (1 + xⁿ)^(1/n), for even and odd n alike; a negative x occurs with even n only where it matters.
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
