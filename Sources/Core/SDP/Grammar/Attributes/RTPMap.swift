package import Primitives

/// The value of `a=rtpmap`: what a payload type stands for (RFC 8866 §6.6).
package struct RTPMap: Hashable, Sendable {
    package var payloadType: PayloadType
    package var name: String
    package var clockRate: Int
    package var channels: Int

    package init(payloadType: PayloadType, name: String, clockRate: Int, channels: Int = 1) {
        self.payloadType = payloadType
        self.name = name
        self.clockRate = clockRate
        self.channels = channels
    }

    /// `111 opus/48000/2`. Opus has two channels whatever is written: RFC 7587 §7 fixes them, and some agents leave them out.
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

    package var value: String { String(payloadType.rawValue) + " " + encoding }

    /// What stands behind the payload type: `opus/48000/2`.
    package var encoding: String {
        let mono = name + "/" + String(clockRate)
        return channels > 1 ? mono + "/" + String(channels) : mono
    }

    /// What a static payload type stands for without an rtpmap (RFC 3551 §6); `nil` for all others.
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
