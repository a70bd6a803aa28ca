import AudioStreams
import CallRuntime
import GatewayAPI
import Primitives

extension StreamRequest {
    private enum Action: String, CaseIterable {
        case connect
        case stop
    }

    /// Reads the body of `POST /v1/calls/{id}/stream`. Without an action a stream is opened.
    ///
    /// - Parameter url: the program if the body has no URL; `nil`: it has to have one.
    /// - Throws: the codes `request.…`.
    init(reading body: [UInt8], otherwise url: WebSocketURL?) throws(V1Error) {
        let fields = try Fields(parsing: body, known: StreamOrder.fields.union(["action"]))
        switch try fields.word("action", Action.self) ?? .connect {
        case .connect: self = .connect(try StreamOrder(reading: fields, otherwise: url))
        case .stop:
            if let field = StreamOrder.fields.sorted().first(where: { fields.has($0) }) {
                throw fields.refusal(field, "is for the action connect alone")
            }
            self = .stop
        }
    }
}

extension StreamOrder {
    /// The fields of a body that says which stream the gateway opens.
    static let fields = StreamTerms.fields.union(["url", "headers", "parameters", "retryTime", "fallback"])

    private static let maximumHeaders = 16
    private static let maximumNameLength = 64
    private static let maximumValueLength = 1_024
    /// The most bytes of all headers together: the client has 16 KB for a request.
    private static let maximumHeaderBytes = 8_192

    /// Reads those fields.
    ///
    /// - Parameter url: the program if there is no URL; `nil`: there has to be one.
    /// - Throws: `request.missing_field`, `request.invalid_value`.
    init(reading fields: Fields, otherwise url: WebSocketURL?) throws(V1Error) {
        let url = try Self.url(fields, otherwise: url)
        var destination = StreamDestination(url: url)
        let headers = try fields.objects("headers", known: ["name", "value"], in: 0...Self.maximumHeaders) ?? []
        for header in headers { destination.fields.append(try Self.header(header)) }
        guard
            destination.fields.reduce(0, { $0 + $1.name.utf8.count + $1.value.value.utf8.count + 4 })
                <= Self.maximumHeaderBytes
        else { throw fields.refusal("headers", "must have at most \(Self.maximumHeaderBytes) bytes together") }
        let parameters = try fields.streamParameters()
        let terms = try StreamTerms(reading: fields)
        let limits = StreamDialing.Configuration.limits
        var dialing = StreamDialing.Configuration()
        if let time = try fields.milliseconds("retryTime", in: limits) { dialing.limit = time }
        self.init(
            destination, terms, parameters: parameters, dialing: dialing,
            fallback: try fields.word("fallback", Fallback.self) ?? .none)
    }

    private static func url(_ fields: Fields, otherwise other: WebSocketURL?) throws(V1Error) -> WebSocketURL {
        if let other, fields.value("url") == nil { return other }
        guard let url = WebSocketURL(parsing: try fields.requiredText("url")) else {
            throw fields.refusal(
                "url",
                "must be a URL wss://host[:port]/path of at most \(WebSocketURL.maximumLength) bytes, whose host has "
                    + "at most \(WebSocketURL.maximumHostLength), without user and fragment")
        }
        return url
    }

    /// Headers of others could change what the request is, or whose it is.
    private static func header(_ header: Fields) throws(V1Error) -> StreamDestination.Field {
        let (name, value) = (try header.requiredText("name"), try header.requiredText("value"))
        let lowercased = name.lowercased()
        guard name.utf8.count <= maximumNameLength, lowercased == "authorization" || lowercased.hasPrefix("x-"),
            name.utf8.allSatisfy(isNameCharacter)
        else { throw header.refusal("name", "must be Authorization, or start with X- and have letters, digits and -") }
        guard value.utf8.count <= maximumValueLength, value.utf8.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw header.refusal("value", "must be at most \(maximumValueLength) characters of ASCII")
        }
        return StreamDestination.Field(name: name, value: Redacted(value))
    }

    private static func isNameCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A, 0x2D: true
        default: false
        }
    }
}
