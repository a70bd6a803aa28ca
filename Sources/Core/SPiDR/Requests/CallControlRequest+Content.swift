package import CallControl

/// `customParameters` and `customBodies`: what one application sends to the other through the gateway, which does not
/// read it, within limits (spidr-wire §6.1, §8.4).
extension CallControlRequest {
    /// How many parameters one request may carry.
    package static let maximumParameters = 64
    /// The limit of all names and values together, in bytes of UTF-8.
    package static let maximumParameterBytes = 8_192
    /// How many bodies one request may carry.
    package static let maximumBodies = 8
    /// The limit of all bodies together, in bytes of UTF-8.
    package static let maximumBodyBytes = 16_384
    /// The limit of one `contentType`, and of one `contentDisposition`, in bytes of UTF-8.
    package static let maximumContentTypeBytes = 256

    /// The parameters and bodies that are passed to the other party; empty if the request carries none.
    ///
    /// - Throws: a fault that names the field, if a limit is exceeded, or a `contentType` is not a media type.
    func content() throws(RequestFault) -> CustomContent {
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
                throw .unusable(
                    field: "\(envelope).\(field).contentType", reason: "is not a media type such as text/plain")
            }
        }
        return CustomContent(
            parameters: parameters.map { CustomParameter(name: $0.name, value: $0.value) },
            bodies: bodies.map {
                CustomBody(contentType: $0.contentType, contentDisposition: $0.contentDisposition, body: $0.body)
            })
    }

    /// The content of `sendCustomHeaders`, which must carry at least one parameter or body.
    ///
    /// - Throws: as ``content()``, and a fault if the request carries neither.
    func someContent() throws(RequestFault) -> CustomContent {
        let content = try content()
        guard !content.isEmpty else {
            throw .missing(
                fields: ["\(envelope).customParameters", "\(envelope).customBodies"],
                reason: "\"\(type)\" needs one")
        }
        return content
    }

    private func check(_ field: String, _ count: Int, of limit: Int) throws(RequestFault) {
        guard count <= limit else {
            throw .unusable(
                field: "\(envelope).\(field)", reason: "has \(count) entries; \(limit) are allowed")
        }
    }

    private func check(_ field: String, bytes: Int, of limit: Int) throws(RequestFault) {
        guard bytes <= limit else {
            throw .unusable(field: "\(envelope).\(field)", reason: "has \(bytes) bytes; \(limit) are allowed")
        }
    }
}

/// A body from one application to the other (spidr-wire §8.4).
///
/// `{"contentType": "text/plain", "contentDisposition": "render", "body": "…"}`
package struct CustomBodyField: Codable, Hashable, Sendable {
    /// A media type, with or without parameters (RFC 9110 §8.3.1).
    package var contentType: String
    /// What the receiver is to do with the body, such as `render`. `nil`: not said.
    package var contentDisposition: String?
    /// The text of the body, passed on as it is.
    package var body: String

    /// Makes the field of a body on its way to the receiving client.
    package init(_ body: CustomBody) {
        contentType = body.contentType
        contentDisposition = body.contentDisposition
        self.body = body.body
    }
}

extension String {
    /// Whether the text is `type/subtype`, with or without parameters (RFC 9110 §8.3.1).
    package var isMediaType: Bool {
        let names = prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
        return names.count == 2 && names.allSatisfy { !$0.isEmpty && $0.utf8.allSatisfy(\.isTokenCharacter) }
    }
}

extension UInt8 {
    /// Whether the byte is a `tchar` (RFC 9110 §5.6.2).
    fileprivate var isTokenCharacter: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(self)
        }
    }
}
