import CallControl

/// `mediaRequest`: playback, and DTMF digits, that the gateway sends into a call; an addition of this gateway
/// (docs/client.md).
package struct MediaRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "mediaRequest"

    /// `play`, `stop` or `dtmf`.
    package var type: String
    /// Who hears it: `self`, `peer` or `both`. `nil`: `peer`.
    package var to: String?
    /// In `play`: `music`, `tone:NAME` such as `tone:busy`, or `file:NAME` such as `file:welcome.wav`.
    package var source: String?
    /// In `play`: whether a file starts again at its end. `nil`: no.
    package var `repeat`: Bool?
    /// In `play`: milliseconds into a file at which playback starts, 0 to 86,400,000. `nil`: 0.
    package var offset: Int?
    /// In `dtmf`: 1 to 128 of `0`–`9`, `A`–`D`, `*`, `#`, and `,` for a pause of two seconds.
    package var digits: String?
    /// In `dtmf`: the length of a tone in milliseconds, brought within 40 to 6000. `nil`: 100.
    package var duration: Int?
    /// In `dtmf`: the pause between tones in milliseconds, brought within 30 to 6000. `nil`: 70.
    package var gap: Int?

    /// Makes a request of its parts; each parameter is the property of that name.
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

    /// Reads a request. Whole numbers and booleans may come as strings, `digits` as a number.
    ///
    /// - Throws: `DecodingError` if `type` is missing, or a field has the wrong type.
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

/// The fields of a request in the terms of call handling.
extension MediaRequest {
    /// The limit of all times, in milliseconds: a day, far longer than any file.
    private static let maximumOffset = 86_400_000

    /// Who is to hear it.
    func target() throws(RequestFault) -> MediaTarget {
        guard let to else { return .peer }
        guard let target = MediaTarget(word: to) else {
            throw invalid("to", "must be \"self\", \"peer\" or \"both\"")
        }
        return target
    }

    /// What `play` plays.
    func playback() throws(RequestFault) -> Playback {
        guard let source else { throw .missing("\(Self.wrapper).source", in: "play") }
        let offset = offset ?? 0
        guard (0...Self.maximumOffset).contains(offset) else {
            throw invalid("offset", "must be 0 to \(Self.maximumOffset) milliseconds")
        }
        return Playback(try parsed(source), repeats: `repeat` ?? false, offset: .milliseconds(offset))
    }

    private func parsed(_ source: String) throws(RequestFault) -> Playback.Source {
        if source == "music" { return .music }
        let parts = source.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        switch (parts.first, parts.last) {
        case ("tone", let name?) where parts.count == 2:
            guard let tone = CallTone(word: name) else {
                throw invalid(
                    "source", "names no tone; there are \(CallTone.allCases.map(\.word).joined(separator: ", "))")
            }
            return .tone(tone)
        case ("file", let name?) where parts.count == 2 && !name.isEmpty: return .file(name)
        default: throw invalid("source", "must be \"music\", \"tone:NAME\" or \"file:NAME\"")
        }
    }

    /// The digits that `dtmf` sends.
    func digitSequence() throws(RequestFault) -> DigitSequence {
        guard let digits else { throw .missing("\(Self.wrapper).digits", in: "dtmf") }
        let (duration, gap) = (milliseconds(duration) ?? .milliseconds(100), milliseconds(gap) ?? .milliseconds(70))
        guard let sequence = DigitSequence(digits, duration: duration, gap: gap) else {
            throw invalid("digits", "must be 1 to \(DigitSequence.maximumCount) of 0-9, A-D, *, # and ,")
        }
        return sequence
    }

    private func milliseconds(_ value: Int?) -> Duration? {
        value.map { .milliseconds(min(max($0, 0), Self.maximumOffset)) }
    }

    /// The fault of a field below `mediaRequest` whose value cannot be used.
    func invalid(_ field: String, _ reason: String) -> RequestFault {
        .unusable(field: "\(Self.wrapper).\(field)", reason: reason)
    }
}

extension MediaTarget {
    /// The target that `to` names; `nil`: none.
    fileprivate init?(word: String) {
        switch word {
        case "self": self = .own
        case "peer": self = .peer
        case "both": self = .both
        default: return nil
        }
    }
}

extension CallTone {
    /// The tone that `tone:NAME` names; `nil`: none.
    package init?(word: String) {
        guard let tone = Self.allCases.first(where: { $0.word == word }) else { return nil }
        self = tone
    }

    /// The name in `tone:NAME`.
    package var word: String {
        switch self {
        case .ringback: "ringback"
        case .busy: "busy"
        case .congestion: "congestion"
        case .dial: "dial"
        case .callWaiting: "call-waiting"
        case .specialInformation: "special-information"
        }
    }
}
