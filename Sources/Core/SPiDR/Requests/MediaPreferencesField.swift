import Primitives
import SDP

/// `mediaPreferences` in `callStart` and `callAnswer`: what the client wants to receive; an addition of this gateway
/// (docs/client.md).
///
/// The values count as though the client had written them into its own descriptions, for the life of the call. `nil`
/// leaves what the description says.
package struct MediaPreferencesField: Codable, Equatable, Sendable {
    /// Encoding names of audio codecs, such as `opus`, the most wanted first. No other audio codec is used.
    package var audioCodecs: [String]?
    /// Encoding names of video codecs, such as `VP8`, the most wanted first. No other video codec is used.
    package var videoCodecs: [String]?
    /// The payload types in the offer that the gateway makes for this client. Without effect in `callAnswer`.
    package var payloadNumbers: [PayloadNumberField]?
    /// The limit of received audio, 1 to 1,000,000 kbit/s.
    package var audioReceiveBandwidth: Int?
    /// The limit of received video, 1 to 1,000,000 kbit/s.
    package var videoReceiveBandwidth: Int?
    /// Parameters of received Opus audio (RFC 7587 §6.1).
    package var opus: OpusField?

    /// The payload type that one format gets.
    package struct PayloadNumberField: Codable, Equatable, Sendable {
        /// The format as in `a=rtpmap`, such as `opus/48000/2`.
        package var codec: String
        /// The payload type, 96 to 127.
        package var number: Int
        /// The `a=fmtp` parameters that tell formats of one name apart, such as `profile-level-id`. `nil`: none are
        /// needed.
        package var parameters: [String: String]?
    }

    /// Parameters of Opus (RFC 7587 §6.1). A number out of its range is ignored, and `warnings` in the answer names it.
    package struct OpusField: Codable, Equatable, Sendable {
        /// The set of values to start from, `webrtc` or `mobile`. The fields beside it change single values. `nil`: no
        /// set.
        package var set: String?
        /// `maxplaybackrate`, 8000 to 48000 Hz.
        package var maxPlaybackRate: Int?
        /// `maxaveragebitrate`, 6000 to 510000 bit/s.
        package var maxAverageBitrate: Int?
        /// `usedtx`: whether the sender may stop sending during pauses.
        package var dtx: Bool?
        /// `useinbandfec`: whether packets carry forward error correction for the packet before.
        package var fec: Bool?
        /// `a=ptime` in milliseconds: 3 to 120, each a multiple of 2.5 ms rounded up. Counts for every audio codec.
        package var ptime: Int?
    }
}

// MARK: - Reading

extension MediaPreferencesField {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case audioCodecs, videoCodecs, payloadNumbers, audioReceiveBandwidth, videoReceiveBandwidth, opus
    }

    /// Reads the preferences. Whole numbers may come as strings of digits.
    ///
    /// - Throws: `DecodingError` if a field has the wrong type, or a name is not one of this object's.
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

    /// Reads an entry.
    ///
    /// - Throws: `DecodingError` if `codec` or `number` is missing, a field has the wrong type, or a name is not one of
    ///   this object's.
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

    /// Reads the Opus parameters. Whole numbers and booleans may come as strings.
    ///
    /// - Throws: `DecodingError` if a field has the wrong type, or a name is not one of this object's.
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
    /// Refuses an unknown key. The object is an addition of this gateway, so no other implementation gives such a key a
    /// meaning: it is a spelling mistake (spidr-wire §1.3).
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
    /// How many codecs one list, and how many payload numbers one request, may have.
    private static let maximumCount = 32

    /// The preferences for call handling, and a sentence for each value that is ignored because RFC 7587 does not allow
    /// it.
    ///
    /// - Parameter path: the path of the field in the body, by which refusals and warnings name it.
    /// - Throws: a fault for a list that is empty or too long, a name that cannot be a codec, a payload
    ///   type out of range or wanted for two formats, a bandwidth out of range, or an unknown set.
    func preferences(at path: String) throws(RequestFault) -> (MediaPreferences, ignored: [String]) {
        let (opus, ignored) = try opusParameters(at: path)
        let preferences = MediaPreferences(
            audioCodecs: try names(audioCodecs, "\(path).audioCodecs"),
            videoCodecs: try names(videoCodecs, "\(path).videoCodecs"),
            payloadNumbers: try numbers(at: "\(path).payloadNumbers"),
            audioBandwidth: try bandwidth(audioReceiveBandwidth, "\(path).audioReceiveBandwidth"),
            videoBandwidth: try bandwidth(videoReceiveBandwidth, "\(path).videoReceiveBandwidth"), opus: opus)
        return (preferences, ignored)
    }

    private func names(_ names: [String]?, _ field: String) throws(RequestFault) -> [String] {
        guard let names else { return [] }
        guard (1...Self.maximumCount).contains(names.count) else {
            throw invalid(field, "must name 1 to \(Self.maximumCount) codecs")
        }
        for (index, name) in names.enumerated() where !MediaPreferences.isCodecName(name) {
            throw invalid("\(field).\(index)", "is not the name of a codec, such as opus or VP8")
        }
        return names
    }

    private func numbers(at field: String) throws(RequestFault) -> [PayloadNumber] {
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

    private func bandwidth(_ limit: Int?, _ field: String) throws(RequestFault) -> Int? {
        guard let limit else { return nil }
        let range = MediaPreferences.bandwidthRange
        guard range.contains(limit) else {
            throw invalid(field, "must be \(range.lowerBound) to \(range.upperBound) kbit/s")
        }
        return limit
    }

    private func opusParameters(at path: String) throws(RequestFault) -> (OpusParameters, ignored: [String]) {
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
        return (base.overridden(by: single), faults.map { "\(path).opus.\($0.field.wireName): \($0.sentence)" })
    }

    private func invalid(_ field: String, _ reason: String) -> RequestFault {
        .unusable(field: field, reason: reason)
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
