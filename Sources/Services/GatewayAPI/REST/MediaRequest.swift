package import CallControl

/// `mediaRequest`: what the gateway plays and presses in a call; an addition of ours (docs/client.md).
package struct MediaRequest: WireObject, Equatable {
    package static let wrapper = "mediaRequest"

    /// `play`, `stop` or `dtmf`.
    package var type: String
    /// `self`, `peer` (if left out) or `both`.
    package var to: String?
    /// `music`, `tone:busy`, `file:welcome.wav`.
    package var source: String?
    package var `repeat`: Bool?
    /// Milliseconds.
    package var offset: Int?
    package var digits: String?
    /// Milliseconds.
    package var duration: Int?
    package var gap: Int?

    package init(
        type: String, to: String? = nil, source: String? = nil, repeat: Bool? = nil, offset: Int? = nil,
        digits: String? = nil,
        duration: Int? = nil, gap: Int? = nil
    ) {
        self.type = type
        self.to = to
        self.source = source
        self.repeat = `repeat`
        self.offset = offset
        self.digits = digits
        self.duration = duration
        self.gap = gap
    }

    private enum CodingKeys: String, CodingKey { case type, to, source, `repeat`, offset, digits, duration, gap }

    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        type = try fields.decode(String.self, forKey: .type)
        to = try fields.decodeIfPresent(String.self, forKey: .to)
        source = try fields.decodeIfPresent(String.self, forKey: .source)
        `repeat` = try fields.decodeLenientBoolean(forKey: .repeat)
        offset = try fields.decodeLenientInteger(forKey: .offset)
        digits = try fields.contains(.digits) ? fields.decodeLenientText(forKey: .digits) : nil
        duration = try fields.decodeLenientInteger(forKey: .duration)
        gap = try fields.decodeLenientInteger(forKey: .gap)
    }
}

extension MediaRequest: JSONWritable {
    /// As clients write it.
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("type", type)
            object.member("to", to)
            object.member("source", source)
            object.member("repeat", `repeat`)
            object.member("offset", offset)
            object.member("digits", digits)
            object.member("duration", duration)
            object.member("gap", gap)
        }
    }
}

/// What a `POST …/callSessions/{id}/media` asks for.
package enum MediaOperation: Equatable, Sendable {
    case play(Playback, to: MediaTarget)
    case stop(to: MediaTarget)
    case digits(DigitSequence, to: MediaTarget)
}

extension MediaRequest {
    /// A day, far longer than any file.
    private static let maximumOffset = 86_400_000

    package func operation() throws(APIError) -> MediaOperation {
        switch type {
        case "play": .play(try playback(), to: try target())
        case "stop": .stop(to: try target())
        case "dtmf": .digits(try digitSequence(), to: try target())
        default: throw invalid("type", "must be \"play\", \"stop\" or \"dtmf\"")
        }
    }

    private func target() throws(APIError) -> MediaTarget {
        guard let to else { return .peer }
        guard let target = MediaTarget(rawValue: to) else {
            throw invalid("to", "must be \"self\", \"peer\" or \"both\"")
        }
        return target
    }

    private func playback() throws(APIError) -> Playback {
        guard let source else {
            throw APIError(.requestMissingField, "The field \"mediaRequest.source\" is missing; \"play\" needs it.")
        }
        let offset = offset ?? 0
        guard (0...Self.maximumOffset).contains(offset) else {
            throw invalid("offset", "must be 0 to \(Self.maximumOffset) milliseconds")
        }
        return Playback(try parsed(source), repeats: `repeat` ?? false, offset: .milliseconds(offset))
    }

    private func parsed(_ source: String) throws(APIError) -> Playback.Source {
        if source == "music" { return .music }
        let parts = source.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.last) {
        case ("tone", let name?) where parts.count == 2:
            guard let tone = CallTone(rawValue: name) else {
                throw invalid(
                    "source", "names no tone; there are \(CallTone.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            return .tone(tone)
        case ("file", let name?) where parts.count == 2 && !name.isEmpty: return .file(name)
        default: throw invalid("source", "must be \"music\", \"tone:NAME\" or \"file:NAME\"")
        }
    }

    private func digitSequence() throws(APIError) -> DigitSequence {
        guard let digits else {
            throw APIError(.requestMissingField, "The field \"mediaRequest.digits\" is missing; \"dtmf\" needs it.")
        }
        let (duration, gap) = (milliseconds(duration) ?? .milliseconds(100), milliseconds(gap) ?? .milliseconds(70))
        guard let sequence = DigitSequence(digits, duration: duration, gap: gap) else {
            throw invalid("digits", "must be 1 to \(DigitSequence.maximumCount) of 0-9, A-D, *, # and ,")
        }
        return sequence
    }

    private func milliseconds(_ value: Int?) -> Duration? {
        value.map { .milliseconds(min(max($0, 0), Self.maximumOffset)) }
    }

    private func invalid(_ field: String, _ what: String) -> APIError {
        APIError(.requestInvalidValue, "The field \"mediaRequest.\(field)\" \(what).")
    }
}

/// `{"mediaResponse": {"statusCode": 0}}`
package struct MediaResponse: WireObject, Equatable {
    package static let wrapper = "mediaResponse"
    package var statusCode = 0

    package init() {}
}

extension MediaResponse: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { $0.member("statusCode", statusCode) }
    }
}
