import AudioStreams
import CallControl
import CallRuntime
package import GatewayAPI
import HTTPTypes

/// The WebSockets that carry the audio of calls (docs/bots.md, *Audio streams*).
extension CallResponder: V1Sockets {
    /// Whether a WebSocket is at a path: the stream of a call.
    package func servesSockets(at path: String) -> Bool { V1Route(parsing: path)?.operations == [.streamCall] }

    /// Opens the stream of a call.
    ///
    /// - Throws: the refusal, before there is a socket.
    package func open(_ request: V1Request) async throws(V1Error) -> V1Socket {
        guard let route = V1Route(parsing: request.path), route.operations == [.streamCall] else {
            throw V1Error(.resourceNotFound, "There is nothing at this path; openapi/v1.yaml lists what there is.")
        }
        let call = try await read(request, route.id, .streamCall)
        let terms = try StreamTerms(reading: call.parameters)
        let link = StreamLink()
        let stream = try await asking { () async throws(ApplicationRefusal) in
            try await calls.open(link, terms, in: call.session, by: call.application)
        }
        let offered = request.headers[.secWebSocketProtocol] ?? ""
        let subprotocol = terms.dialect.subprotocol.flatMap { name in
            offered.split(separator: ",").contains { $0.filter { $0 != " " } == name } ? name : nil
        }
        return .stream(
            CallStream(link: link, subprotocol: subprotocol) { [calls] in
                await calls.closed(stream, in: call.session, by: call.application)
            })
    }

    /// The refusal of a request for a stream that does not ask for a WebSocket. What else is wrong with it comes first.
    func withoutUpgrade(_ call: Call) async throws(V1Error) -> V1Error {
        _ = try StreamTerms(reading: call.parameters)
        _ = try await asking { () async throws(ApplicationRefusal) in
            try await calls.call(call.session, of: call.application)
        }
        return V1Error(
            .requestUpgradeRequired, "A stream is a WebSocket: ask with an opening handshake (RFC 6455 §4.1).")
    }
}

extension StreamTerms {
    /// Reads the query of a request for a stream.
    ///
    /// - Throws: `request.invalid_parameter`.
    init(reading query: RequestQuery<V1Error>) throws(V1Error) {
        let dialect = try query.word("dialect", StreamDialectName.self) ?? .own
        let encoding = try query.word("format", StreamFormat.Encoding.self) ?? dialect.usualFormat.encoding
        guard encoding != .opus else {
            throw V1Error(
                .requestInvalidParameter, "The parameter \"format\" must be l16, pcmu or pcma; Opus is not there yet.")
        }
        var rate: Int?
        if let text = query["rate"] {
            let possible = encoding == .l16 ? StreamFormat.rates : [8_000]
            guard let number = Int(text), possible.contains(number) else {
                let words = possible.map(String.init).joined(separator: ", ")
                throw V1Error(
                    .requestInvalidParameter,
                    "The parameter \"rate\" must be \(words) samples per second with format=\(encoding.rawValue).")
            }
            rate = number
        }
        guard let format = StreamFormat(encoding, rate: rate) else {
            throw V1Error(.requestInvalidParameter, "The parameters \"format\" and \"rate\" do not fit each other.")
        }
        guard dialect.carries(format) else {
            throw V1Error(
                .requestInvalidParameter,
                "The dialect \(dialect.rawValue) cannot carry \(format); its usual format is \(dialect.usualFormat).")
        }
        self.init(
            dialect: dialect, format: format,
            absence: try query.word("absence", StreamTerms.Absence.self) ?? .silence,
            configuration: try StreamSession.Configuration(reading: query, dialect))
    }
}

extension StreamSession.Configuration {
    /// Reads the parameters about speech. Speech is looked for only where it is told.
    ///
    /// - Throws: `request.invalid_parameter`.
    fileprivate init(reading query: RequestQuery<V1Error>, _ dialect: StreamDialectName) throws(V1Error) {
        let media = try query.word("media", Media.self) ?? .always
        var bargeIn: BargeIn.Configuration?
        if let text = query["bargeIn"] {
            guard let milliseconds = Int(text), BargeIn.Configuration.decisions.contains(milliseconds) else {
                let range = BargeIn.Configuration.decisions
                throw V1Error(
                    .requestInvalidParameter,
                    "The parameter \"bargeIn\" must be a number of milliseconds from \(range.lowerBound) to "
                        + "\(range.upperBound).")
            }
            bargeIn = BargeIn.Configuration(decision: milliseconds)
        }
        let isNeeded = dialect == .own || media == .speech || bargeIn != nil
        self.init(
            media: media, detector: isNeeded ? SpeechDetector.Configuration() : nil, bargeIn: bargeIn)
    }
}

/// The stream of one call, as its socket sees it.
private struct CallStream: V1Stream {
    let link: StreamLink
    let subprotocol: String?
    /// Tells that the socket is gone.
    let closed: @Sendable () async -> Void

    func connected(waking wake: @escaping @Sendable () -> Void) { link.connect(waking: wake) }

    func receive(_ frame: StreamFrame) -> Bool { link.receive(frame) }

    func take() -> V1StreamOutput {
        let taken = link.takeOutward()
        return V1StreamOutput(
            frames: taken.frames, end: taken.end.map { .init($0) }, isOverfull: taken.isOverfull,
            mayRead: taken.mayRead)
    }

    func disconnected() {
        link.disconnect()
        Task { [closed] in await closed() }
    }
}

extension V1StreamOutput.End {
    /// The end of a socket for that of its stream.
    fileprivate init(_ end: StreamEnd) {
        switch end {
        case .callEnded, .stopped, .byBot, .replaced: self.init(words: end.rawValue, isViolation: false)
        case .shutdown: self.init(words: end.rawValue, isViolation: false)
        case .faults, .unreachable: self.init(words: end.rawValue, isViolation: true)
        }
    }
}

extension HTTPField.Name {
    /// The subprotocols that a client of a WebSocket offers (RFC 6455 §11.3.4).
    fileprivate static let secWebSocketProtocol = Self("Sec-WebSocket-Protocol")!
}
