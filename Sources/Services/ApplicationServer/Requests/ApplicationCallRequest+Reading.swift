package import CallControl
package import CallRuntime
package import GatewayAPI
package import Primitives
import SPiDR

extension ApplicationCallRequest {
    private static let fields: Set<String> = [
        "to", "from", "displayName", "ringTimeout", "earlyMedia", "context", "record", "stream",
    ]

    /// Reads the body of `POST /v1/calls`: the call, and the stream that the gateway opens once it is answered.
    ///
    /// - Parameters:
    ///   - addresses: the addresses of the application. If that is one, the call comes from it unless the body says
    ///     otherwise.
    ///   - streamURL: the program of a stream without a URL; `nil`: there has to be one.
    /// - Throws: the codes `request.…`.
    package static func read(
        _ body: [UInt8], addresses: [ApplicationAddress], streamURL: WebSocketURL? = nil
    ) throws(V1Error) -> (call: ApplicationCallRequest, stream: StreamOrder?) {
        let fields = try Fields(parsing: body, known: Self.fields.union(CustomContent.fields))
        let call = try ApplicationCallRequest(reading: fields, addresses: addresses)
        guard let wish = try fields.object("stream", known: StreamOrder.fields) else { return (call, nil) }
        return (call, try StreamOrder(reading: wish, otherwise: streamURL))
    }

    private init(reading fields: Fields, addresses: [ApplicationAddress]) throws(V1Error) {
        let to = try fields.address("to")
        let own = addresses.count == 1 ? addresses[0].single : nil
        let known = fields.value("from") == nil ? own : nil
        let displayName = try fields.text("displayName")
        guard displayName.map({ Self.isDisplayName($0) }) ?? true else {
            throw fields.refusal("displayName", "must be at most 256 bytes, without control characters")
        }
        let ringTimeout = try fields.milliseconds("ringTimeout", in: Self.ringTimeouts)
        let earlyMedia = try fields.flag("earlyMedia") ?? false
        let context = try fields.text("context")
        let content = try fields.content()
        var record: RecordRequest?
        if let wish = try fields.object("record", known: RecordRequest.fields) {
            record = try RecordRequest(reading: wish)
        }
        let from = if let known { known } else { try fields.address("from") }
        do throws(ApplicationFault) {
            try self.init(
                to: to, from: from, displayName: displayName, ringTimeout: ringTimeout,
                earlyMedia: earlyMedia, content: content, context: context, record: record)
        } catch {
            throw fields.refusal(error)
        }
    }

    private static func isDisplayName(_ text: String) -> Bool {
        text.utf8.count <= 256 && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
    }
}

extension CustomContent {
    /// The fields of a body that carries parameters and bodies to the other side.
    static let fields: Set<String> = ["parameters", "bodies"]
}

extension Fields {
    /// An address that has to be there.
    ///
    /// - Throws: `request.missing_field`, `request.invalid_value`.
    func address(_ name: String) throws(V1Error) -> UserAddress {
        guard let address = UserAddress(parsing: try requiredText(name)) else {
            throw refusal(name, "must be an address with a domain, such as alice@example.com")
        }
        return address
    }

    /// A time in whole milliseconds; `nil`: the field is not there.
    ///
    /// - Throws: `request.invalid_value`.
    func milliseconds(_ name: String, in range: ClosedRange<Duration>) throws(V1Error) -> Duration? {
        let limits = range.lowerBound.wholeMilliseconds...range.upperBound.wholeMilliseconds
        return try number(name, in: limits).map { .milliseconds($0) }
    }

    /// `parameters` and `bodies`: what the other side gets, within the limits of the client protocol.
    ///
    /// - Throws: `request.missing_field`, `request.invalid_value`.
    func content() throws(V1Error) -> CustomContent {
        typealias Limits = CallControlRequest
        var content = CustomContent()
        let parameters = try objects("parameters", known: ["name", "value"], in: 0...Limits.maximumParameters) ?? []
        for parameter in parameters {
            content.parameters.append(
                CustomParameter(
                    name: try parameter.requiredText("name"), value: try parameter.requiredText("value")))
        }
        try checkParameters(bytes: content.parameters.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count })
        let known: Set<String> = ["contentType", "contentDisposition", "body"]
        for body in try objects("bodies", known: known, in: 0...Limits.maximumBodies) ?? [] {
            let type = try body.requiredText("contentType")
            guard type.isMediaType, type.utf8.count <= Limits.maximumContentTypeBytes else {
                throw body.refusal(
                    "contentType",
                    "must be a media type, such as text/plain, of at most \(Limits.maximumContentTypeBytes) bytes")
            }
            let disposition = try body.text("contentDisposition")
            guard (disposition?.utf8.count ?? 0) <= Limits.maximumContentTypeBytes else {
                throw body.refusal(
                    "contentDisposition", "must be at most \(Limits.maximumContentTypeBytes) bytes")
            }
            content.bodies.append(
                CustomBody(
                    contentType: type, contentDisposition: disposition, body: try body.requiredText("body")))
        }
        guard content.bodies.reduce(0, { $0 + $1.body.utf8.count }) <= Limits.maximumBodyBytes else {
            throw refusal("bodies", "must have at most \(Limits.maximumBodyBytes) bytes")
        }
        return content
    }

    /// `parameters` of a stream: what its program is told, within the limits of those of a call.
    ///
    /// - Throws: `request.invalid_value`.
    func streamParameters() throws(V1Error) -> [String: String] {
        let parameters = try namedTexts("parameters", atMost: CallControlRequest.maximumParameters) ?? [:]
        try checkParameters(bytes: parameters.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count })
        return parameters
    }

    /// Refuses `parameters` whose names and values have too many bytes together.
    private func checkParameters(bytes: Int) throws(V1Error) {
        let limit = CallControlRequest.maximumParameterBytes
        guard bytes <= limit else { throw refusal("parameters", "must have at most \(limit) bytes") }
    }
}
