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
    package func isNamed(_ other: String) -> Bool { name.lowercased() == other.lowercased() }

    /// Retransmissions of another payload type (RFC 4588).
    package var isRetransmission: Bool { isNamed("rtx") }

    /// Whether both stand for the same encoding; formats may differ in their parameters.
    package func isSameEncoding(as other: Codec) -> Bool {
        clockRate == other.clockRate && channels == other.channels && isNamed(other.name)
    }

    /// Whether media can be made of this codec alone: not of retransmissions, redundancy, error correction,
    /// comfort noise or telephone events.
    package var carriesMedia: Bool { !Self.auxiliaryNames.contains(name.lowercased()) }

    private static let auxiliaryNames: Set<String> = ["rtx", "red", "ulpfec", "flexfec-03", "flexfec", "cn", "telephone-event"]

    /// The payload types this one cannot do without: `apt` of rtx (RFC 4588 §8.6), the list of red (RFC 2198 §5).
    package var requiredPayloadTypes: [PayloadType] {
        guard let parameters else { return [] }
        if isRetransmission {
            let apt = parameters.utf8.split(separator: UInt8(ascii: ";")).compactMap { parameter -> PayloadType? in
                let text = Substring(parameter)
                guard let start = text.firstIndex(of: "="), text[..<start].filter({ $0 != " " }).lowercased() == "apt" else { return nil }
                return Self.payloadType(text[text.index(after: start)...])
            }
            return Array(apt.prefix(1))
        }
        guard isNamed("red") else { return [] }
        return parameters.split(separator: "/").compactMap(Self.payloadType)
    }

    private static func payloadType(_ text: Substring) -> PayloadType? {
        Int(decimal: text.utf8.filter { $0 != UInt8(ascii: " ") }).flatMap { PayloadType($0) }
    }
}

extension [Codec] {
    /// The codecs without those whose required payload types are gone, in the same order.
    package func withoutOrphans() -> [Codec] {
        var kept = self
        while true {
            let types = Set(kept.map(\.payloadType))
            let next = kept.filter { $0.requiredPayloadTypes.allSatisfy(types.contains) }
            if next.count == kept.count { return kept }
            kept = next
        }
    }

    package func codec(for payloadType: PayloadType) -> Codec? {
        first { $0.payloadType == payloadType }
    }
}
