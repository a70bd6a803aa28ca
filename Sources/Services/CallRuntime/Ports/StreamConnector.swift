package import AudioStreams
package import CallControl
package import Primitives

/// What connects to the programs of streams.
package protocol StreamConnector: Sendable {
    /// Connects to a program, once.
    ///
    /// - Parameters:
    ///   - link: the queues of the socket.
    ///   - subprotocol: what the gateway offers; `nil`: nothing.
    ///   - tell: called, from any thread, with `opened` if a socket came about, and with `lost` once in any case.
    /// - Returns: gives the connection up, open or not; it may be called from any thread, and more than once.
    func connect(
        _ link: StreamLink, to destination: StreamDestination, subprotocol: String?,
        telling tell: @escaping @Sendable (StreamNews) -> Void
    ) -> @Sendable () -> Void
}

/// What becomes of the socket of a stream that the gateway opens.
package enum StreamNews: Equatable, Sendable {
    /// It is open.
    case opened
    /// It is gone, or did not come about. The text says why, for people.
    case lost(StreamLoss, String)
}

/// The program of a stream that the gateway opens.
package struct StreamDestination: Equatable, Sendable {
    /// A header field of the opening handshake.
    package struct Field: Equatable, Sendable {
        /// The name.
        package var name: String
        /// The value, which may be a secret.
        package var value: Redacted<String>

        /// Makes a field of its parts; each parameter is the property of that name.
        package init(name: String, value: Redacted<String>) {
            self.name = name
            self.value = value
        }
    }

    /// Where it is.
    package var url: WebSocketURL
    /// Header fields of the opening handshake.
    package var fields: [Field]

    /// Makes a destination of its parts; each parameter is the property of that name.
    package init(url: WebSocketURL, fields: [Field] = []) {
        self.url = url
        self.fields = fields
    }

    /// The same, whose opening handshake has the field `traceparent` (W3C Trace Context §3.2).
    ///
    /// - Parameter trace: the trace of the stream; `nil`: it is part of none.
    package func tracing(_ trace: TraceContext?) -> StreamDestination {
        guard let trace else { return self }
        var traced = self
        traced.fields.append(Field(name: "traceparent", value: Redacted(trace.description)))
        return traced
    }
}

/// What an application asks for when the gateway is to open a stream.
package struct StreamOrder: Equatable, Sendable {
    /// What happens to the call when the program is given up. The raw value is the word of the `/v1` interface.
    package enum Fallback: String, Hashable, Sendable, CaseIterable {
        /// The call goes on without it.
        case none
        /// The call ends.
        case end
        /// What is configured for calls of the application about which nobody decides.
        case application
    }

    /// The program.
    package var destination: StreamDestination
    /// What the stream is.
    package var terms: StreamTerms
    /// What the program is told with the start: values by names. They win over those of the call.
    package var parameters: [String: String]
    /// How long the program is tried.
    package var dialing: StreamDialing.Configuration
    /// What happens when it is given up.
    package var fallback: Fallback
    /// The trace of the request for the stream; `nil`: the stream is part of that of its call.
    package var trace: TraceContext?

    /// Makes an order of its parts; each parameter is the property of that name.
    package init(
        _ destination: StreamDestination, _ terms: StreamTerms, parameters: [String: String] = [:],
        dialing: StreamDialing.Configuration = StreamDialing.Configuration(), fallback: Fallback = .none,
        trace: TraceContext? = nil
    ) {
        self.destination = destination
        self.terms = terms
        self.parameters = parameters
        self.dialing = dialing
        self.fallback = fallback
        self.trace = trace
    }
}

/// What an application wants of the stream that the gateway opens.
package enum StreamRequest: Equatable, Sendable {
    /// It is to be opened.
    case connect(StreamOrder)
    /// It is to end.
    case stop
}

/// Connects to nobody.
package struct NoStreamConnector: StreamConnector {
    /// Makes one.
    package init() {}

    /// Tells that the program cannot be reached.
    package func connect(
        _ link: StreamLink, to destination: StreamDestination, subprotocol: String?,
        telling tell: @escaping @Sendable (StreamNews) -> Void
    ) -> @Sendable () -> Void {
        tell(.lost(.final, "this gateway opens no streams"))
        return {}
    }
}
