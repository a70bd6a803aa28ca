/// What an application wants of the audio it receives (RFC 7587 §6.1). A property that is `nil` leaves the description
/// unchanged.
package struct OpusParameters: Hashable, Sendable {
    /// `maxplaybackrate` in hertz, 8000 to 48000. The receiver cannot play a higher audio bandwidth.
    package var maximumPlaybackRate: Int?
    /// `maxaveragebitrate` in bit/s, 6000 to 510000.
    package var maximumAverageBitrate: Int?
    /// `usedtx`: whether the sender should use discontinuous transmission.
    package var usesDTX: Bool?
    /// `useinbandfec`: whether the sender should add forward error correction, so that a lost frame can be decoded from
    /// the next packet.
    package var usesInbandFEC: Bool?
    /// `a=ptime` in milliseconds, 3 to 120; it applies to every audio codec.
    package var packetTime: Int?

    /// Makes parameters of their parts; each parameter is the property of that name.
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

    /// These parameters, replaced by those of `other` wherever `other` has one.
    package func overridden(by other: Self) -> Self {
        Self(
            maximumPlaybackRate: other.maximumPlaybackRate ?? maximumPlaybackRate,
            maximumAverageBitrate: other.maximumAverageBitrate ?? maximumAverageBitrate,
            usesDTX: other.usesDTX ?? usesDTX,
            usesInbandFEC: other.usesInbandFEC ?? usesInbandFEC, packetTime: other.packetTime ?? packetTime)
    }
}

/// The two sets of the reference guide, "Control audio bandwidth". The raw value is the word in the configuration
/// and in requests.
package enum OpusParameterSet: String, Hashable, Sendable, CaseIterable {
    /// "WebRTC default": 40 kbit/s, 20 ms packets.
    case webRTC = "webrtc"
    /// "Mobile SDK preferred": half the bit rate, 60 ms packets, discontinuous transmission.
    case mobile

    /// The parameters of the set.
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
    /// A value that RFC 7587 does not allow. A dialect makes the sentence for whoever wrote the value.
    package struct Fault: Error, Equatable, Sendable {
        /// The parameters that have a range.
        package enum Field: Sendable {
            /// `maxplaybackrate`, 8000 to 48000 Hz.
            case maximumPlaybackRate
            /// `maxaveragebitrate`, 6000 to 510000 bit/s.
            case maximumAverageBitrate
            /// `a=ptime`, 3 to 120 ms, each a multiple of 2.5 ms rounded up.
            case packetTime
        }

        /// The parameter with the value.
        package let field: Field
        /// The value, in the unit of the parameter.
        package let value: Int
    }

    /// Removes values that are out of range and returns them. The value of the chosen set or of the description then
    /// applies.
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

    /// Whether this is a multiple of 2.5 ms, 1 to 48 times, rounded up to whole milliseconds: 3, 5, 8, 10, … 120.
    private static func isPacketTime(_ milliseconds: Int) -> Bool {
        (1...48).contains { (5 * $0 + 1) / 2 == milliseconds }
    }
}
