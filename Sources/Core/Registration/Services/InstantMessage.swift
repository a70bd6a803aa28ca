package import CallControl

/// A message from one user to another (spidr-wire §9).
package struct InstantMessage: Hashable, Sendable, Codable {
    /// The name of the message, under which its sender hears what has become of it.
    package var id: String
    /// The user who has sent it.
    package var sender: UserAddress
    /// The display name of the sender; may be empty.
    package var senderName: String
    /// The text.
    package var text: String
    /// What the sender's client calls the kind of text, such as `A2`. The gateway passes it on.
    package var type: String
    /// What the sender's client calls the characters of the text, such as `UTF-8`. The gateway passes it on.
    package var charset: String
    /// When it was sent, milliseconds since 1970.
    package var time: Int64

    /// Makes a message of its parts; each parameter is the property of that name.
    package init(
        id: String, sender: UserAddress, senderName: String, text: String, type: String, charset: String, time: Int64
    ) {
        self.id = id
        self.sender = sender
        self.senderName = senderName
        self.text = text
        self.type = type
        self.charset = charset
        self.time = time
    }
}

/// A message that a user asks to be sent.
package struct MessageRequest: Equatable, Sendable {
    /// The user who is to get it.
    package var receiver: UserAddress
    /// The text.
    package var text: String
    /// What the client calls the kind of text.
    package var type: String
    /// What the client calls the characters of the text.
    package var charset: String

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(receiver: UserAddress, text: String, type: String, charset: String) {
        self.receiver = receiver
        self.text = text
        self.type = type
        self.charset = charset
    }
}

/// What has become of a message, as its sender is told.
package struct MessageResult: Hashable, Sendable, Codable {
    /// What can become of a message.
    package enum Outcome: String, Hashable, Sendable, Codable, CaseIterable {
        /// It was given to a device that listens.
        case delivered
        /// No device listens; it is kept for the next one.
        case kept
        /// It was kept for as long as messages are, and no device came.
        case expired
    }

    /// The name of the message.
    package var message: String
    /// The user whom it is for.
    package var receiver: UserAddress
    /// What has become of it.
    package var outcome: Outcome

    /// Makes a result of its parts; each parameter is the property of that name.
    package init(message: String, receiver: UserAddress, outcome: Outcome) {
        self.message = message
        self.receiver = receiver
        self.outcome = outcome
    }
}
