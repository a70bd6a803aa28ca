package import Primitives

extension Codec {
    package init(_ map: RTPMap, parameters: String? = nil, feedback: [String] = []) {
        self.init(
            payloadType: map.payloadType, name: map.name, clockRate: map.clockRate, channels: map.channels,
            parameters: parameters, feedback: feedback)
    }

    package var map: RTPMap {
        RTPMap(payloadType: payloadType, name: name, clockRate: clockRate, channels: channels)
    }

    /// Encoding names compare without case (RFC 4855 §3).
    package func isNamed(_ other: String) -> Bool {
        guard name.utf8.count == other.utf8.count else { return false }
        if name == other { return true }
        return zip(name.utf8, other.utf8).allSatisfy { $0 == $1 || Self.lowercase($0) == Self.lowercase($1) }
    }

    private static func lowercase(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// Retransmissions of another payload type (RFC 4588).
    package var isRetransmission: Bool { isNamed("rtx") }

    /// Keys of a telephone (RFC 4733).
    package var isTelephoneEvent: Bool { isNamed("telephone-event") }

    /// Whether both stand for the same encoding; formats may differ in their parameters.
    package func isSameEncoding(as other: Codec) -> Bool {
        clockRate == other.clockRate && channels == other.channels && isNamed(other.name)
    }

    /// What a retransmission format repairs: `apt` (RFC 4588 §8.1).
    package var repairedPayloadType: PayloadType? {
        guard isRetransmission, let text = FormatParameters(parameters ?? "")["apt"] else { return nil }
        return Int(decimal: text.utf8).flatMap(PayloadType.init)
    }

    /// Whether media can be made of this codec alone: not of retransmissions, redundancy, error correction,
    /// comfort noise or telephone events.
    package var carriesMedia: Bool { !Self.auxiliaryNames.contains(where: isNamed) }

    private static let auxiliaryNames = ["rtx", "red", "ulpfec", "flexfec-03", "flexfec", "cn", "telephone-event"]

    /// The payload types this one cannot do without: `apt` of rtx (RFC 4588 §8.1), the list of red (RFC 2198 §5).
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
    /// The codecs without those whose required payload types are gone, in the same order.
    package func withoutOrphans() -> [Codec] {
        let present = PayloadTypeSet(self)
        guard let orphan = firstIndex(where: { !$0.requiredPayloadTypes.isSubset(of: present) }) else { return self }
        // What required an orphan is one as well.
        var kept = Array(self[..<orphan])
        kept.append(
            contentsOf: self[orphan...].lazy.dropFirst().filter { $0.requiredPayloadTypes.isSubset(of: present) })
        return kept.withoutOrphans()
    }

    package func codec(for payloadType: PayloadType) -> Codec? {
        first { $0.payloadType == payloadType }
    }
}
