import Primitives
import SDP

extension ValueFormat<Bool> {
    static let onOrOff = ValueFormat(
        "on or off", parseText: { ["on": true, "off": false][$0] }, writeText: { $0 ? "on" : "off" })
}

extension ValueFormat<[String]> {
    /// Names of codecs. `any` stands for the empty list.
    static let codecNames = ValueFormat(
        "a list of codecs, such as [opus, PCMU], or any",
        parse: { value in
            if value == .text("any") { return [] }
            let names = value.items
            return !names.isEmpty && names.allSatisfy(MediaPreferences.isCodecName) ? names : nil
        },
        write: { $0.isEmpty ? .text("any") : .list($0) })
}

extension ValueFormat<[PayloadNumber]> {
    /// Payload types for formats. `none` stands for the empty list. An entry is a number, an encoding, and parameters
    /// that tell formats of one name apart.
    static let payloadNumbers = ValueFormat(
        "a list such as [114 opus/48000/2, 126 H264/90000 profile-level-id=42e029] with numbers from 96 to 127, or none",
        parse: { value in
            if value == .text("none") { return [] }
            let numbers = value.items.map(PayloadNumber.init(entry:))
            return numbers.isEmpty || numbers.contains(nil) ? nil : numbers.compactMap(\.self)
        },
        write: { $0.isEmpty ? .text("none") : .list($0.map(\.entry)) })
}

extension PayloadNumber {
    fileprivate init?(entry: String) {
        let fields = entry.split(separator: " ").map(String.init)
        guard fields.count >= 2, let number = Int(fields[0]) else { return nil }
        var parameters: [String: String] = [:]
        for field in fields.dropFirst(2) {
            let parts = field.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { return nil }
            parameters[parts[0]] = parts[1]
        }
        self.init(fields[1], number: number, parameters: parameters)
    }

    fileprivate var entry: String {
        let conditions = parameters.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return (["\(payloadType.rawValue)", definition] + conditions).joined(separator: " ")
    }
}

extension ConfigurationValue {
    /// The entries of a list. In environment and flags they are separated by commas.
    fileprivate var items: [String] {
        switch self {
        case .list(let items): items
        case .text(let text):
            text.split(separator: ",", omittingEmptySubsequences: false)
                .map { String($0.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed()) }
        }
    }
}
