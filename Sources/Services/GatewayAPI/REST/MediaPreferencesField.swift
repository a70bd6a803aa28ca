import Primitives
package import SDP

/// `mediaPreferences` in `callStart` and `callAnswer`: what the client wants to receive; an addition of ours (docs/client.md).
package struct MediaPreferencesField: Codable, JSONWritable, Equatable, Sendable {
    /// Encoding names, the most wanted first; no others are used.
    package var audioCodecs: [String]?
    package var videoCodecs: [String]?
    package var payloadNumbers: [PayloadNumberField]?
    /// kbit/s.
    package var audioReceiveBandwidth: Int?
    package var videoReceiveBandwidth: Int?
    package var opus: OpusField?

    package struct PayloadNumberField: Codable, Equatable, Sendable {
        /// `opus/48000/2`, as in `a=rtpmap`.
        package var codec: String
        package var number: Int
        /// `a=fmtp` parameters that tell formats of one name apart.
        package var parameters: [String: String]?
    }

    package struct OpusField: Codable, Equatable, Sendable {
        /// `webrtc` or `mobile`; the fields beside it change single values.
        package var set: String?
        package var maxPlaybackRate: Int?
        package var maxAverageBitrate: Int?
        package var dtx: Bool?
        package var fec: Bool?
        /// Milliseconds.
        package var ptime: Int?
    }
}

// MARK: - Reading

extension MediaPreferencesField {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case audioCodecs, videoCodecs, payloadNumbers, audioReceiveBandwidth, videoReceiveBandwidth, opus
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(besides: CodingKeys.self)
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        audioCodecs = try fields.decodeIfPresent([String].self, forKey: .audioCodecs)
        videoCodecs = try fields.decodeIfPresent([String].self, forKey: .videoCodecs)
        payloadNumbers = try fields.decodeIfPresent([PayloadNumberField].self, forKey: .payloadNumbers)
        audioReceiveBandwidth = try fields.decodeLenientInteger(forKey: .audioReceiveBandwidth)
        videoReceiveBandwidth = try fields.decodeLenientInteger(forKey: .videoReceiveBandwidth)
        opus = try fields.decodeIfPresent(OpusField.self, forKey: .opus)
    }
}

extension MediaPreferencesField.PayloadNumberField {
    private enum CodingKeys: String, CodingKey, CaseIterable { case codec, number, parameters }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(besides: CodingKeys.self)
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        codec = try fields.decode(String.self, forKey: .codec)
        guard let number = try fields.decodeLenientInteger(forKey: .number) else {
            throw DecodingError.keyNotFound(
                CodingKeys.number, .init(codingPath: fields.codingPath, debugDescription: "it is missing."))
        }
        self.number = number
        parameters = try fields.decodeIfPresent([String: String].self, forKey: .parameters)
    }
}

extension MediaPreferencesField.OpusField {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case set, maxPlaybackRate, maxAverageBitrate, dtx, fec, ptime
    }

    package init(from decoder: any Decoder) throws {
        try decoder.refuseKeys(besides: CodingKeys.self)
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        set = try fields.decodeIfPresent(String.self, forKey: .set)
        maxPlaybackRate = try fields.decodeLenientInteger(forKey: .maxPlaybackRate)
        maxAverageBitrate = try fields.decodeLenientInteger(forKey: .maxAverageBitrate)
        dtx = try fields.decodeLenientBoolean(forKey: .dtx)
        fec = try fields.decodeLenientBoolean(forKey: .fec)
        ptime = try fields.decodeLenientInteger(forKey: .ptime)
    }
}

extension Decoder {
    /// An object of ours has no keys that another implementation might mean something by: an unknown one is a slip.
    fileprivate func refuseKeys<Keys: CodingKey & CaseIterable>(besides known: Keys.Type) throws {
        let fields = try container(keyedBy: WireKey.self)
        let names = Keys.allCases.map(\.stringValue)
        guard let unknown = fields.allKeys.map(\.stringValue).filter({ !names.contains($0) }).min() else { return }
        throw DecodingError.dataCorruptedError(
            forKey: WireKey(unknown), in: fields,
            debugDescription: "there is no such field; there are \(names.joined(separator: ", ")).")
    }
}

// MARK: - Meaning

extension MediaPreferencesField {
    /// Codecs, or payload numbers, of one request.
    private static let maximumCount = 32

    /// The preferences, and a sentence for each value that is ignored because RFC 7587 does not know it.
    ///
    /// - Parameter path: where the field stands, for what is said about it.
    package func preferences(at path: String) throws(APIError) -> (MediaPreferences, ignored: [String]) {
        let (opus, ignored) = try opusParameters(at: path)
        let preferences = MediaPreferences(
            audioCodecs: try names(audioCodecs, "\(path).audioCodecs"),
            videoCodecs: try names(videoCodecs, "\(path).videoCodecs"),
            payloadNumbers: try numbers(at: "\(path).payloadNumbers"),
            audioBandwidth: try bandwidth(audioReceiveBandwidth, "\(path).audioReceiveBandwidth"),
            videoBandwidth: try bandwidth(videoReceiveBandwidth, "\(path).videoReceiveBandwidth"), opus: opus)
        return (preferences, ignored)
    }

    private func names(_ names: [String]?, _ field: String) throws(APIError) -> [String] {
        guard let names else { return [] }
        guard (1...Self.maximumCount).contains(names.count) else {
            throw invalid(field, "must name 1 to \(Self.maximumCount) codecs")
        }
        for (index, name) in names.enumerated() where !MediaPreferences.isCodecName(name) {
            throw invalid("\(field).\(index)", "is not the name of a codec, such as opus or VP8")
        }
        return names
    }

    private func numbers(at field: String) throws(APIError) -> [PayloadNumber] {
        let wanted = payloadNumbers ?? []
        guard wanted.count <= Self.maximumCount else { throw invalid(field, "may have \(Self.maximumCount) entries") }
        var numbers: [PayloadNumber] = []
        for (index, entry) in wanted.enumerated() {
            guard PayloadNumber.isDefinition(entry.codec) else {
                throw invalid("\(field).\(index).codec", "must be as in a=rtpmap, such as opus/48000/2 or VP8/90000")
            }
            guard let number = PayloadNumber(entry.codec, number: entry.number, parameters: entry.parameters ?? [:])
            else {
                let range = PayloadNumber.range
                throw invalid(
                    "\(field).\(index).number",
                    "must be \(range.lowerBound) to \(range.upperBound) (RFC 3551, RFC 5761)")
            }
            numbers.append(number)
        }
        if let (first, second) = numbers.contested {
            throw invalid(
                field,
                "gives \(first.payloadType.rawValue) to both \(first.definition) and \(second.definition); bundled media needs one number per format"
            )
        }
        return numbers
    }

    private func bandwidth(_ limit: Int?, _ field: String) throws(APIError) -> Int? {
        guard let limit else { return nil }
        let range = MediaPreferences.bandwidthRange
        guard range.contains(limit) else {
            throw invalid(field, "must be \(range.lowerBound) to \(range.upperBound) kbit/s")
        }
        return limit
    }

    private func opusParameters(at path: String) throws(APIError) -> (OpusParameters, ignored: [String]) {
        guard let opus else { return (OpusParameters(), []) }
        var base = OpusParameters()
        if let name = opus.set {
            guard let set = OpusParameterSet(rawValue: name) else {
                let names = OpusParameterSet.allCases.map { "\"\($0.rawValue)\"" }.joined(separator: " or ")
                throw invalid("\(path).opus.set", "must be \(names)")
            }
            base = set.parameters
        }
        var single = OpusParameters(
            maximumPlaybackRate: opus.maxPlaybackRate, maximumAverageBitrate: opus.maxAverageBitrate, usesDTX: opus.dtx,
            usesInbandFEC: opus.fec,
            packetTime: opus.ptime)
        let faults = single.removeOutOfRange()
        return (base.overridden(by: single), faults.map { "\(path).opus.\($0.field.wireName): \($0)" })
    }

    private func invalid(_ field: String, _ what: String) -> APIError {
        APIError(.requestInvalidValue, "The field \"\(field)\" \(what).")
    }
}

extension OpusParameters.Fault.Field {
    fileprivate var wireName: String {
        switch self {
        case .maximumPlaybackRate: "maxPlaybackRate"
        case .maximumAverageBitrate: "maxAverageBitrate"
        case .packetTime: "ptime"
        }
    }
}
