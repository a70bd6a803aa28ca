import AudioStreams
import CallRuntime
import GatewayAPI
import Primitives

/// The terms of a stream, as the query of a request or its body has them; `nil`: a term is not there.
private struct StreamWords {
    var dialect: StreamDialectName?
    var encoding: StreamFormat.Encoding?
    /// -1: it is no number.
    var rate: Int?
    var absence: StreamTerms.Absence?
    var media: StreamSession.Configuration.Media?
    /// Milliseconds; -1: it is no number.
    var bargeIn: Int?
    var listens: StreamTerms.Listening?
    /// Milliseconds; -1: it is no number.
    var retryTime: Int?
    var fallback: StreamOrder.Fallback?
    /// Makes the refusal of a term: its name, and a predicate for a sentence about it.
    var refusal: (String, String) -> V1Error
}

extension StreamTerms {
    /// The names of the terms in a query.
    static let parameters = fields.union(["listen", "retryTime", "fallback"])
    /// The names of the terms in a body. What happens when the program is gone is read with the rest of the order.
    static let fields: Set<String> = ["dialect", "format", "rate", "absence", "media", "bargeIn"]

    /// Reads the query of a request for a stream.
    ///
    /// - Throws: `request.invalid_parameter`.
    init(reading query: RequestQuery<V1Error>) throws(V1Error) {
        try self.init(
            StreamWords(
                dialect: try query.word("dialect", StreamDialectName.self),
                encoding: try query.word("format", StreamFormat.Encoding.self),
                rate: query["rate"].map { Int($0) ?? -1 },
                absence: try query.word("absence", Absence.self),
                media: try query.word("media", StreamSession.Configuration.Media.self),
                bargeIn: query["bargeIn"].map { Int($0) ?? -1 },
                listens: try query.word("listen", Listening.self),
                retryTime: query["retryTime"].map { Int($0) ?? -1 },
                fallback: try query.word("fallback", StreamOrder.Fallback.self),
                refusal: { V1Error(.requestInvalidParameter, "The parameter \"\($0)\" \($1).") }))
    }

    /// Reads those of a body.
    ///
    /// - Throws: `request.invalid_value`.
    init(reading fields: Fields) throws(V1Error) {
        try self.init(
            StreamWords(
                dialect: try fields.word("dialect", StreamDialectName.self),
                encoding: try fields.word("format", StreamFormat.Encoding.self),
                rate: try fields.number("rate", in: 0...1_000_000).map { Int($0) },
                absence: try fields.word("absence", Absence.self),
                media: try fields.word("media", StreamSession.Configuration.Media.self),
                bargeIn: try fields.number("bargeIn", in: 0...1_000_000).map { Int($0) },
                refusal: { fields.refusal($0, $1) }))
    }

    private init(_ words: StreamWords) throws(V1Error) {
        let dialect = words.dialect ?? .own
        let encoding = words.encoding ?? dialect.usualFormat.encoding
        if let rate = words.rate {
            let possible =
                switch encoding {
                case .l16: StreamFormat.rates
                case .pcmu, .pcma: [8_000]
                case .opus: [48_000]
                }
            guard possible.contains(rate) else {
                let rates = possible.map(String.init).joined(separator: ", ")
                throw words.refusal("rate", "must be \(rates) samples per second with format=\(encoding.rawValue)")
            }
        }
        guard let format = StreamFormat(encoding, rate: words.rate) else {
            throw words.refusal("rate", "does not fit the format")
        }
        guard dialect.carries(format) else {
            throw words.refusal(
                "format",
                "must be one that the dialect \(dialect.rawValue) carries, not \(format); "
                    + "its usual one is \(dialect.usualFormat)")
        }
        guard words.bargeIn == nil || format != .opus || dialect == .own else {
            throw words.refusal(
                "bargeIn", "is not possible with opus in the dialect \(dialect.rawValue), which cannot go on or clear")
        }
        var waiting = StreamDialing.Configuration()
        if let milliseconds = words.retryTime {
            let limits = StreamDialing.Configuration.limits
            guard limits.contains(.milliseconds(milliseconds)) else {
                throw words.refusal(
                    "retryTime",
                    "must be a number of milliseconds from \(limits.lowerBound.wholeMilliseconds) to "
                        + "\(limits.upperBound.wholeMilliseconds)")
            }
            waiting.limit = .milliseconds(milliseconds)
        }
        self.init(
            dialect: dialect, format: format, absence: words.absence ?? .silence,
            configuration: try StreamSession.Configuration(words, dialect), listens: words.listens,
            waiting: waiting, fallback: words.fallback ?? .none)
    }
}

extension StreamSession.Configuration {
    /// Reads the terms about speech. Speech is looked for only where it is told.
    fileprivate init(_ words: StreamWords, _ dialect: StreamDialectName) throws(V1Error) {
        let media = words.media ?? .always
        var bargeIn: BargeIn.Configuration?
        if let milliseconds = words.bargeIn {
            let range = BargeIn.Configuration.decisions
            guard range.contains(milliseconds) else {
                throw words.refusal(
                    "bargeIn",
                    "must be a number of milliseconds from \(range.lowerBound) to \(range.upperBound)")
            }
            bargeIn = BargeIn.Configuration(decision: milliseconds)
        }
        if words.listens != nil {
            let others = [
                ("bargeIn", bargeIn != nil), ("absence", words.absence != nil),
                ("retryTime", words.retryTime != nil), ("fallback", words.fallback != nil),
            ]
            for (name, isThere) in others where isThere {
                throw words.refusal(name, "is for streams that speak, not for listeners")
            }
        }
        let isNeeded = dialect == .own || media == .speech || bargeIn != nil
        self.init(
            media: media, buffer: dialect.buffer, detector: isNeeded ? SpeechDetector.Configuration() : nil,
            bargeIn: bargeIn, isListener: words.listens != nil)
    }
}
