package import Registration
import CallControl

/// `imRequest` of `POST …/instantmessage` (spidr-wire §9).
package struct InstantMessageRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "imRequest"

    /// The address of the user who is to get the message.
    package var toUrl: String
    /// The text.
    package var message: String
    /// What the client calls the kind of text; `nil`: `A2`.
    package var type: String?
    /// What the client calls the characters of the text; `nil`: `UTF-8`.
    package var charset: String?

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(toUrl: String, message: String, type: String? = nil, charset: String? = nil) {
        self.toUrl = toUrl
        self.message = message
        self.type = type
        self.charset = charset
    }

    /// The longest `type` and `charset`, in bytes of UTF-8.
    private static let maximumLabelLength = 64

    /// The request in the terms of registration.
    ///
    /// - Parameters:
    ///   - maximumLength: the longest text, in bytes of UTF-8.
    ///   - defaultDomain: completes names and telephone numbers without a domain.
    /// - Throws: a fault that names the field; `messageTooLong` for a text that is too long.
    package func messageRequest(maximumLength: Int, defaultDomain: String) throws(RequestFault) -> MessageRequest {
        let receiver = try UserAddress(field: "\(Self.wrapper).toUrl", toUrl, defaultDomain: defaultDomain)
        guard !message.isEmpty else {
            throw .missing(fields: ["\(Self.wrapper).message"], reason: "a message has a text")
        }
        guard message.utf8.count <= maximumLength else { throw .messageTooLong(limit: maximumLength) }
        for (name, value) in [("type", type), ("charset", charset)] {
            guard value?.utf8.count ?? 0 <= Self.maximumLabelLength else {
                throw .unusable(
                    field: "\(Self.wrapper).\(name)", reason: "is longer than \(Self.maximumLabelLength) bytes")
            }
        }
        return MessageRequest(receiver: receiver, text: message, type: type ?? "A2", charset: charset ?? "UTF-8")
    }
}

extension UserAddress {
    /// Reads the address of a user in the field of a body.
    ///
    /// - Throws: a fault that names the field.
    init(field: String, _ text: String, defaultDomain: String) throws(RequestFault) {
        guard let address = UserAddress(parsing: text, defaultDomain: defaultDomain) else {
            throw .unusable(field: field, reason: "is not an address such as sip:ann@example.com")
        }
        self = address
    }

    /// Reads the addresses of users in a list of a body. An address that is repeated counts once.
    ///
    /// - Throws: a fault that names the first item at fault, or says that there are too many.
    static func list(
        field: String, _ texts: [String], limit: Int, defaultDomain: String
    ) throws(RequestFault) -> [UserAddress] {
        guard texts.count <= limit else {
            throw .unusable(field: field, reason: "has more than \(limit) items")
        }
        var seen: Set<UserAddress> = []
        var addresses: [UserAddress] = []
        for (index, text) in texts.enumerated() {
            let address = try UserAddress(field: "\(field).\(index)", text, defaultDomain: defaultDomain)
            if seen.insert(address).inserted { addresses.append(address) }
        }
        return addresses
    }
}
