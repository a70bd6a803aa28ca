/// `{"name": "X-GPS", "value": "1,2"}` (spidr-wire §8.4); names are passed on as they were written.
package struct CustomParameter: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
        self.name = name
        self.value = value
    }
}

/// Something of any type that an application sends along (spidr-wire §6.1).
package struct CustomBody: Hashable, Sendable {
    /// A media type (RFC 9110 §8.3.1).
    package var contentType: String
    /// What is to be done with it, such as `render` (RFC 3261 §20.11); `nil`: not said.
    package var contentDisposition: String?
    package var body: String

    package init(contentType: String, contentDisposition: String? = nil, body: String) {
        self.contentType = contentType
        self.contentDisposition = contentDisposition
        self.body = body
    }
}

/// What an application says to the other side's, by way of the gateway.
package struct CustomContent: Hashable, Sendable {
    package var parameters: [CustomParameter]
    package var bodies: [CustomBody]

    package init(parameters: [CustomParameter] = [], bodies: [CustomBody] = []) {
        self.parameters = parameters
        self.bodies = bodies
    }

    package var isEmpty: Bool { parameters.isEmpty && bodies.isEmpty }
}

extension Notification {
    mutating func carry(_ content: CustomContent) {
        customParameters = content.parameters
        customBodies = content.bodies
    }
}
