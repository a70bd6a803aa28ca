package import CallControl

/// What a subscription is told of services besides calls (spidr-wire §9, §10).
package enum ServiceNotice: Hashable, Sendable {
    /// A message for the user.
    case message(InstantMessage)
    /// What has become of a message of the user.
    case messageResult(MessageResult)
    /// The presence of another user, whom the user watches or asked for.
    case presence(PresenceReport)
    /// How many voice messages the user has.
    case voicemail(VoicemailCount)
    /// The same two for a subscription to events.
    case event(EventReport)
    /// A registration of the user for push has ended.
    case pushInvalidated(PushInvalidation)

    /// The name of the message that it is about, if the user has sent that message; `nil`: it is about something else.
    package var sentMessage: String? {
        if case .messageResult(let result) = self { result.message } else { nil }
    }
}

extension ServiceNotice: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case message, messageResult, presence, voicemail, event, pushInvalidated
    }

    /// Reads an object with one member, whose name is the kind of the notice.
    ///
    /// - Throws: `DecodingError` if there is no such member, or it cannot be read.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        switch CodingKeys.allCases.first(where: values.contains) {
        case .message: self = .message(try values.decode(InstantMessage.self, forKey: .message))
        case .messageResult: self = .messageResult(try values.decode(MessageResult.self, forKey: .messageResult))
        case .presence: self = .presence(try values.decode(PresenceReport.self, forKey: .presence))
        case .voicemail: self = .voicemail(try values.decode(VoicemailCount.self, forKey: .voicemail))
        case .event: self = .event(try values.decode(EventReport.self, forKey: .event))
        case .pushInvalidated:
            self = .pushInvalidated(try values.decode(PushInvalidation.self, forKey: .pushInvalidated))
        case nil:
            throw DecodingError.dataCorrupted(
                .init(codingPath: values.codingPath, debugDescription: "no notice of a known service"))
        }
    }

    /// Writes an object with one member, whose name is the kind of the notice.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .message(let message): try values.encode(message, forKey: .message)
        case .messageResult(let result): try values.encode(result, forKey: .messageResult)
        case .presence(let report): try values.encode(report, forKey: .presence)
        case .voicemail(let count): try values.encode(count, forKey: .voicemail)
        case .event(let report): try values.encode(report, forKey: .event)
        case .pushInvalidated(let invalidation): try values.encode(invalidation, forKey: .pushInvalidated)
        }
    }
}

/// A change of what is kept for the services of a user.
package enum ServiceChange: Equatable, Sendable {
    /// A user's registration is to be told something; to be kept together with what it follows from.
    case owed(OwedMessage)
    /// Owed messages of these numbers have been told, or nobody has to be told them. To be kept together with the
    /// notifications that they have become.
    case settled([UInt64])
    /// A message is kept for the user.
    case messageKept(InstantMessage, for: UserAddress)
    /// Messages of these names are kept no more.
    case messagesRemoved([String], of: UserAddress)
    /// The user's presence; `nil`: nothing has to be kept.
    case presence(StoredPresence?, of: UserAddress)
    /// What the user watches, and subscriptions to events; `nil`: nothing.
    case interests(StoredInterests?, of: UserAddress)
    /// How many voice messages the user has.
    case voicemail(VoicemailCount, of: UserAddress)
}

/// What a process finds of the services of all users.
package struct StoredServices: Equatable, Sendable {
    /// The messages that are kept for each user, in order.
    package var messages: [UserAddress: [InstantMessage]]
    /// The presence of the users of whom something is kept.
    package var presence: [UserAddress: StoredPresence]
    /// What each user watches.
    package var interests: [UserAddress: StoredInterests]
    /// How many voice messages each user has.
    package var voicemail: [UserAddress: VoicemailCount]
    /// What users' registrations have not been told yet, in the order of the numbers.
    package var owed: [OwedMessage]

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(
        messages: [UserAddress: [InstantMessage]] = [:], presence: [UserAddress: StoredPresence] = [:],
        interests: [UserAddress: StoredInterests] = [:], voicemail: [UserAddress: VoicemailCount] = [:],
        owed: [OwedMessage] = []
    ) {
        self.messages = messages
        self.presence = presence
        self.interests = interests
        self.voicemail = voicemail
        self.owed = owed
    }
}

/// Why a request about a service was refused.
package enum ServiceRefusal: Error, Equatable {
    /// There is no user of the address that a message is for.
    case unknownReceiver
    /// As many messages are kept for the receiver as may be.
    case inboxFull
    /// The user has sent too many messages, or changed the presence too often; one more is allowed after this time.
    case tooManyMessages(retryAfter: Duration)
    /// The user has no subscription, without which there is no presence.
    case notSubscribed
    /// Only users of the same domain can be watched; this one is not.
    case otherDomain(UserAddress)
    /// The user watches as many users as one may watch, which is this number.
    case limitOfWatched(Int)
    /// A user can subscribe to the own voice mail only.
    case voicemailOfAnother(UserAddress)
    /// The user has as many subscriptions to events as one may have, which is this number.
    case limitOfEventSubscriptions(Int)
    /// The subscription to events has ended, or never was.
    case noSuchEventSubscription
    /// The users cannot be read at present.
    case storageUnavailable
}
