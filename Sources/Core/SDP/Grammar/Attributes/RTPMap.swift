package import Primitives

/// The value of `a=rtpmap`: the encoding that a payload type means (RFC 8866 §6.6).
package struct RTPMap: Hashable, Sendable {
    /// The payload type, 0 to 127.
    package var payloadType: PayloadType
    /// The encoding name as written.
    package var name: String
    /// The RTP clock rate in hertz.
    package var clockRate: Int
    /// The number of audio channels; 1 if none is written.
    package var channels: Int

    /// Makes an rtpmap of its parts; each parameter is the property of that name.
    package init(payloadType: PayloadType, name: String, clockRate: Int, channels: Int = 1) {
        self.payloadType = payloadType
        self.name = name
        self.clockRate = clockRate
        self.channels = channels
    }

    /// Reads a value such as `111 opus/48000/2`; `nil` if it is malformed. Opus always has two channels: RFC 7587 §7
    /// fixes them, and some agents omit them.
    package init?(_ value: String) {
        var fields = FieldReader(value)
        guard let number: Int = fields.number(), let payloadType = PayloadType(number),
            let name = fields.field(upTo: UInt8(ascii: "/"))
        else { return nil }
        guard let clockRate: UInt32 = fields.number(upTo: UInt8(ascii: "/")), clockRate > 0 else { return nil }
        var channels: UInt8 = 1
        if !fields.isAtEnd {
            guard let count: UInt8 = fields.number(), count > 0 else { return nil }
            channels = count
        }
        if name.lowercased() == "opus" { channels = 2 }
        self.init(payloadType: payloadType, name: name, clockRate: Int(clockRate), channels: Int(channels))
    }

    /// The value of `a=rtpmap`, such as `111 opus/48000/2`.
    package var value: String { String(payloadType.rawValue) + " " + encoding }

    /// The part after the payload type, such as `opus/48000/2`. A single channel is not written.
    package var encoding: String {
        let mono = name + "/" + String(clockRate)
        return channels > 1 ? mono + "/" + String(channels) : mono
    }

    /// The encoding of a static payload type that has no rtpmap (RFC 3551 §6); `nil` for other payload types.
    package init?(static payloadType: PayloadType) {
        guard let entry = Self.staticTypes[payloadType.rawValue] else { return nil }
        self.init(payloadType: payloadType, name: entry.name, clockRate: entry.rate, channels: entry.channels)
    }

    private static let staticTypes: [UInt8: (name: String, rate: Int, channels: Int)] = [
        0: ("PCMU", 8_000, 1), 3: ("GSM", 8_000, 1), 4: ("G723", 8_000, 1), 5: ("DVI4", 8_000, 1),
        6: ("DVI4", 16_000, 1),
        7: ("LPC", 8_000, 1), 8: ("PCMA", 8_000, 1), 9: ("G722", 8_000, 1), 10: ("L16", 44_100, 2),
        11: ("L16", 44_100, 1),
        12: ("QCELP", 8_000, 1), 13: ("CN", 8_000, 1), 14: ("MPA", 90_000, 1), 15: ("G728", 8_000, 1),
        16: ("DVI4", 11_025, 1),
        17: ("DVI4", 22_050, 1), 18: ("G729", 8_000, 1), 25: ("CelB", 90_000, 1), 26: ("JPEG", 90_000, 1),
        28: ("nv", 90_000, 1),
        31: ("H261", 90_000, 1), 32: ("MPV", 90_000, 1), 33: ("MP2T", 90_000, 1), 34: ("H263", 90_000, 1),
    ]
}
