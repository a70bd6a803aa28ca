import Primitives

/// Builds the codecs of an m-line from `a=rtpmap`, `a=fmtp` and `a=rtcp-fb`, which may come in any order.
struct CodecReading {
    private struct Entry {
        let payloadType: PayloadType
        var map: RTPMap?
        var parameters: String?
        var feedback: [String] = []

        mutating func add(feedback value: String) {
            guard feedback.count < CodecReading.feedbackLimit, !feedback.contains(value) else { return }
            if feedback.isEmpty { feedback.reserveCapacity(6) }
            feedback.append(value)
        }
    }

    private var entries: [Entry] = []
    /// The index into `entries` by payload type; there are at most 128.
    private var places = [UInt8](repeating: Self.nowhere, count: 128)
    private static let nowhere: UInt8 = 0xFF
    private var feedbackForAll: [String] = []
    /// The most values of `a=rtcp-fb` that are kept per codec, so that wildcards do not multiply without bounds.
    private static let feedbackLimit = 32

    /// Starts with the formats of an m-line.
    ///
    /// Formats that are not payload types are ignored. So are 64 to 95: multiplexed with RTCP, they could not be told
    /// from its packet types (RFC 5761 §4).
    init(formats: [String]) {
        entries.reserveCapacity(formats.count)
        for format in formats {
            guard let number = Int(decimal: format.utf8), let payloadType = PayloadType(number),
                !(64...95).contains(number),
                places[number] == Self.nowhere
            else { continue }
            places[number] = UInt8(entries.count)
            entries.append(Entry(payloadType: payloadType))
        }
    }

    /// Takes an attribute of a codec; `false` if the attribute is none. A line about a payload type that the m-line
    /// does not list is ignored.
    ///
    /// - Throws: If an rtpmap cannot be read.
    mutating func take(_ attribute: Attribute) throws(AttributeFault) -> Bool {
        switch attribute.name {
        case "rtpmap":
            guard let value = attribute.value, let map = RTPMap(value) else { throw AttributeFault(attribute) }
            if let place = place(of: map.payloadType) { entries[place].map = map }
        case "fmtp":
            guard let value = attribute.value, let format = FormatAttribute(value) else { return true }
            if case .one(let payloadType) = format.format, let place = place(of: payloadType) {
                // One line per format (RFC 8866 §6.15): the first counts.
                entries[place].parameters = entries[place].parameters ?? format.text
            }
        case "rtcp-fb":
            guard let value = attribute.value, let feedback = FormatAttribute(value) else { return true }
            let text = Self.withoutSpacesAtEnd(feedback.text)
            switch feedback.format {
            case .all: feedbackForAll.append(text)
            case .one(let payloadType):
                if let place = place(of: payloadType) { entries[place].add(feedback: text) }
            }
        default: return false
        }
        return true
    }

    /// The codecs read so far. A dynamic payload type without rtpmap has no meaning and is left out.
    var codecs: [Codec] {
        entries.compactMap { entry in
            guard let map = entry.map ?? RTPMap(static: entry.payloadType) else { return nil }
            var entry = entry
            for value in feedbackForAll { entry.add(feedback: value) }
            return Codec(map, parameters: entry.parameters, feedback: entry.feedback)
        }
    }

    /// Pion writes a space where the parameter of a feedback type would follow: `nack `.
    private static func withoutSpacesAtEnd(_ text: String) -> String {
        guard text.utf8.last == UInt8(ascii: " ") else { return text }
        var kept = text[...]
        while kept.utf8.last == UInt8(ascii: " ") { kept.removeLast() }
        return String(kept)
    }

    private func place(of payloadType: PayloadType) -> Int? {
        let place = places[Int(payloadType.rawValue)]
        return place == Self.nowhere ? nil : Int(place)
    }
}
