package import CallControl

/// `customParameters` and `customBodies`: what goes to the other side unread (spidr-wire §6.1, §8.4), within bounds.
extension CallControlRequest {
    /// How many parameters one request may carry.
    package static let maximumParameters = 64
    /// All names and values together, in bytes.
    package static let maximumParameterBytes = 8_192
    /// How many bodies one request may carry.
    package static let maximumBodies = 8
    /// All bodies together, in bytes.
    package static let maximumBodyBytes = 16_384
    /// `contentType` or `contentDisposition`, in bytes.
    package static let maximumContentTypeBytes = 256

    package func content() throws(APIError) -> CustomContent {
        let (parameters, bodies) = (customParameters ?? [], customBodies ?? [])
        try check("customParameters", parameters.count, of: Self.maximumParameters)
        try check(
            "customParameters", bytes: parameters.reduce(0) { $0 + $1.name.utf8.count + $1.value.utf8.count },
            of: Self.maximumParameterBytes)
        try check("customBodies", bodies.count, of: Self.maximumBodies)
        try check("customBodies", bytes: bodies.reduce(0) { $0 + $1.body.utf8.count }, of: Self.maximumBodyBytes)
        for (index, body) in bodies.enumerated() {
            let field = "customBodies[\(index)]"
            try check(field + ".contentType", bytes: body.contentType.utf8.count, of: Self.maximumContentTypeBytes)
            try check(
                field + ".contentDisposition", bytes: body.contentDisposition?.utf8.count ?? 0,
                of: Self.maximumContentTypeBytes)
            guard body.contentType.isMediaType else {
                throw APIError(
                    .requestInvalidValue,
                    "The field \"\(envelope).\(field).contentType\" is not a media type such as text/plain.")
            }
        }
        return CustomContent(
            parameters: parameters.map { CustomParameter(name: $0.name, value: $0.value) },
            bodies: bodies.map {
                CustomBody(contentType: $0.contentType, contentDisposition: $0.contentDisposition, body: $0.body)
            })
    }

    func someContent() throws(APIError) -> CustomContent {
        let content = try content()
        guard !content.isEmpty else {
            throw APIError(
                .requestMissingField,
                "The field \"\(envelope).customParameters\" or \"\(envelope).customBodies\" is missing; \"\(type)\" needs one."
            )
        }
        return content
    }

    private func check(_ field: String, _ count: Int, of limit: Int) throws(APIError) {
        guard count <= limit else {
            throw APIError(
                .requestInvalidValue, "The field \"\(envelope).\(field)\" has \(count) entries; \(limit) are allowed.")
        }
    }

    private func check(_ field: String, bytes: Int, of limit: Int) throws(APIError) {
        guard bytes <= limit else {
            throw APIError(
                .requestInvalidValue, "The field \"\(envelope).\(field)\" has \(bytes) bytes; \(limit) are allowed.")
        }
    }
}

/// `{"contentType": "text/plain", "contentDisposition": "render", "body": "…"}`.
package struct CustomBodyField: Decodable, Hashable, Sendable {
    package var contentType: String
    package var contentDisposition: String?
    package var body: String

    package init(_ body: CustomBody) {
        contentType = body.contentType
        contentDisposition = body.contentDisposition
        self.body = body.body
    }
}

extension CustomBodyField: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.object { object in
            object.member("contentType", contentType)
            object.member("contentDisposition", contentDisposition)
            object.member("body", body)
        }
    }
}

extension String {
    /// `type/subtype`, and whatever parameters (RFC 9110 §8.3.1).
    fileprivate var isMediaType: Bool {
        let names = prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
        return names.count == 2 && names.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(\.isTokenCharacter) }
    }
}

extension UInt8 {
    /// `tchar` (RFC 9110 §5.6.2).
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
