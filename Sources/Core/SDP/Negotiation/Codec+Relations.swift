package import Primitives

extension Codec {
    /// Makes a codec of an rtpmap and the values of its `a=fmtp` and `a=rtcp-fb` lines.
    package init(_ map: RTPMap, parameters: String? = nil, feedback: [String] = []) {
        self.init(
            payloadType: map.payloadType, name: map.name, clockRate: map.clockRate, channels: map.channels,
            parameters: parameters, feedback: feedback)
    }

    /// The rtpmap of this codec.
    package var map: RTPMap {
        RTPMap(payloadType: payloadType, name: name, clockRate: clockRate, channels: channels)
    }

    /// Whether this is the encoding name; encoding names are compared without case (RFC 4855 §3).
    package func isNamed(_ other: String) -> Bool {
        guard name.utf8.count == other.utf8.count else { return false }
        if name == other { return true }
        return zip(name.utf8, other.utf8).allSatisfy { $0 == $1 || Self.lowercase($0) == Self.lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Whether these are retransmissions of another payload type (RFC 4588).
    package var isRetransmission: Bool { isNamed("rtx") }

    /// Whether these are telephone-events, such as DTMF digits (RFC 4733).
    package var isTelephoneEvent: Bool { isNamed("telephone-event") }

    /// Whether both have the same encoding name, clock rate and channels. Their format parameters may differ.
    package func isSameEncoding(as other: Codec) -> Bool {
        clockRate == other.clockRate && channels == other.channels && isNamed(other.name)
    }

    /// The payload type that a retransmission format repairs: `apt` (RFC 4588 §8.1); `nil` for other formats and
    /// without `apt`.
    package var repairedPayloadType: PayloadType? {
        guard isRetransmission, let text = FormatParameters(parameters ?? "")["apt"] else { return nil }
        return Int(decimal: text.utf8).flatMap(PayloadType.init)
    }

    /// Whether this codec carries media by itself. Retransmissions, redundancy, error correction, comfort noise and
    /// telephone-events do not.
    package var carriesMedia: Bool { !Self.auxiliaryNames.contains(where: isNamed) }

    private static let auxiliaryNames = ["rtx", "red", "ulpfec", "flexfec-03", "flexfec", "cn", "telephone-event"]

    /// The payload types that this format depends on: `apt` of rtx (RFC 4588 §8.1), the list of red (RFC 2198 §5).
    package var requiredPayloadTypes: PayloadTypeSet {
        var required = PayloadTypeSet()
        guard let parameters else { return required }
        if isRetransmission {
            var fields = FieldReader(parameters)
            while !fields.isAtEnd {
                fields.skip(UInt8(ascii: " "))
                if fields.take("apt="), let number: Int = fields.number(upTo: UInt8(ascii: ";")) {
                    if let payloadType = PayloadType(number) { required.insert(payloadType) }
                } else {
                    fields.skipField(upTo: UInt8(ascii: ";"))
                }
            }
        } else if isNamed("red") {
            var fields = FieldReader(parameters)
            while let number: Int = fields.number(upTo: UInt8(ascii: "/")) {
                if let payloadType = PayloadType(number) { required.insert(payloadType) }
            }
        }
        return required
    }
}

extension [Codec] {
    /// The codecs, in the same order, without those that depend on a missing payload type.
    package func withoutOrphans() -> [Codec] {
        let present = PayloadTypeSet(self)
        guard let orphan = firstIndex(where: { !$0.requiredPayloadTypes.isSubset(of: present) }) else { return self }
        // A format that depends on an orphan is an orphan as well.
        var kept = Array(self[..<orphan])
        kept.append(
            contentsOf: self[orphan...].lazy.dropFirst().filter { $0.requiredPayloadTypes.isSubset(of: present) })
        return kept.withoutOrphans()
    }

    /// The first codec with that payload type; `nil` if there is none.
    package func codec(for payloadType: PayloadType) -> Codec? {
        first { $0.payloadType == payloadType }
    }
}
