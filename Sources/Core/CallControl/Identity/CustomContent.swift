/// A custom parameter, `{"name": "X-GPS", "value": "1,2"}` (spidr-wire §8.4). Its name is passed on as it was written.
package struct CustomParameter: Hashable, Sendable, Codable {
    /// The name, in the sender's spelling.
    package var name: String
    /// The value; any text.
    package var value: String

    /// Makes a parameter of its parts.
    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// A custom body of any media type that an application sends along (spidr-wire §6.1).
package struct CustomBody: Hashable, Sendable, Codable {
    /// The media type (RFC 9110 §8.3.1).
    package var contentType: String
    /// What the receiver is to do with it, such as `render` (RFC 3261 §20.11); `nil`: not stated.
    package var contentDisposition: String?
    /// The content, as text.
    package var body: String

    /// Makes a body of its parts; each parameter is the property of that name.
    package init(contentType: String, contentDisposition: String? = nil, body: String) {
        self.contentType = contentType
        self.contentDisposition = contentDisposition
        self.body = body
    }
}

/// What the application on one leg sends to the applications on the others, by way of the gateway.
package struct CustomContent: Hashable, Sendable, Codable {
    /// The custom parameters, in the sender's order.
    package var parameters: [CustomParameter]
    /// The custom bodies, in the sender's order.
    package var bodies: [CustomBody]

    /// Makes content of its parts; empty without any.
    package init(parameters: [CustomParameter] = [], bodies: [CustomBody] = []) {
        self.parameters = parameters
        self.bodies = bodies
    }

    /// Whether there is neither a parameter nor a body.
    package var isEmpty: Bool { parameters.isEmpty && bodies.isEmpty }
}
