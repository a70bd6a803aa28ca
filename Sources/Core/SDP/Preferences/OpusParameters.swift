/// What an application asks of the audio it receives (RFC 7587 §6.1); `nil` leaves what the description says.
package struct OpusParameters: Hashable, Sendable {
    /// `maxplaybackrate`, in hertz: a higher audio bandwidth would not be heard.
    package var maximumPlaybackRate: Int?
    /// `maxaveragebitrate`, in bit/s.
    package var maximumAverageBitrate: Int?
    /// `usedtx`: pauses need not be sent.
    package var usesDTX: Bool?
    /// `useinbandfec`: what is lost can be made from the next packet.
    package var usesInbandFEC: Bool?
    /// `a=ptime`, in milliseconds; counts for every audio codec.
    package var packetTime: Int?

    package init(
        maximumPlaybackRate: Int? = nil, maximumAverageBitrate: Int? = nil, usesDTX: Bool? = nil,
        usesInbandFEC: Bool? = nil,
        packetTime: Int? = nil
    ) {
        self.maximumPlaybackRate = maximumPlaybackRate
        self.maximumAverageBitrate = maximumAverageBitrate
        self.usesDTX = usesDTX
        self.usesInbandFEC = usesInbandFEC
        self.packetTime = packetTime
    }

    /// These, with what `other` says in the place of what they say.
    package func overridden(by other: Self) -> Self {
        Self(
            maximumPlaybackRate: other.maximumPlaybackRate ?? maximumPlaybackRate,
            maximumAverageBitrate: other.maximumAverageBitrate ?? maximumAverageBitrate,
            usesDTX: other.usesDTX ?? usesDTX,
            usesInbandFEC: other.usesInbandFEC ?? usesInbandFEC, packetTime: other.packetTime ?? packetTime)
    }
}

/// The two sets of the reference guide, "Control audio bandwidth".
package enum OpusParameterSet: String, Hashable, Sendable, CaseIterable {
    /// "WebRTC default".
    case webRTC = "webrtc"
    /// "Mobile SDK preferred": half the bandwidth.
    case mobile

    package var parameters: OpusParameters {
        switch self {
        case .webRTC:
            OpusParameters(
                maximumPlaybackRate: 24_000, maximumAverageBitrate: 40_000, usesDTX: false, usesInbandFEC: true,
                packetTime: 20)
        case .mobile:
            OpusParameters(
                maximumPlaybackRate: 16_000, maximumAverageBitrate: 20_000, usesDTX: true, usesInbandFEC: true,
                packetTime: 60)
        }
    }
}

extension OpusParameters {
    /// A value that RFC 7587 does not know; prints as a sentence without its subject.
    package struct Fault: Error, Equatable, Sendable, CustomStringConvertible {
        package enum Field: Sendable {
            case maximumPlaybackRate, maximumAverageBitrate, packetTime
        }

        package let field: Field
        package let value: Int

        package var description: String {
            switch field {
            case .maximumPlaybackRate: "\(value) is ignored: RFC 7587 allows 8000 to 48000 Hz"
            case .maximumAverageBitrate: "\(value) is ignored: RFC 7587 allows 6000 to 510000 bit/s"
            case .packetTime: "\(value) is ignored: RFC 7587 allows 3 to 120 ms, each a multiple of 2.5 ms rounded up"
            }
        }
    }

    /// Takes away what is out of range and says what that was; then what the chosen set or the description says counts.
    package mutating func removeOutOfRange() -> [Fault] {
        var faults: [Fault] = []
        if let rate = maximumPlaybackRate, !(8_000...48_000).contains(rate) {
            faults.append(Fault(field: .maximumPlaybackRate, value: rate))
            maximumPlaybackRate = nil
        }
        if let rate = maximumAverageBitrate, !(6_000...510_000).contains(rate) {
            faults.append(Fault(field: .maximumAverageBitrate, value: rate))
            maximumAverageBitrate = nil
        }
        if let time = packetTime, !Self.isPacketTime(time) {
            faults.append(Fault(field: .packetTime, value: time))
            packetTime = nil
        }
        return faults
    }

    /// 2.5 ms times 1…48, rounded up to the next whole number: 3, 5, 8, 10, … 120.
    private static func isPacketTime(_ milliseconds: Int) -> Bool {
        (1...48).contains { (5 * $0 + 1) / 2 == milliseconds }
    }
}
