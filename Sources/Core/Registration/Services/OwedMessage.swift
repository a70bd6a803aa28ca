package import CallControl

/// What the registration of a user is told of services by others: by another user's registration, or by the owner of
/// voice mail.
package enum ServiceMessage: Equatable, Sendable {
    /// What has become of a message of this user.
    case messageResult(MessageResult)
    /// The presence of another user has changed, or this user has started to watch it.
    case presence(PresenceReport)
    /// The same, because this user has asked once.
    case askedPresence(PresenceReport)
    /// How many voice messages this user has now.
    case voicemail(VoicemailCount)
    /// The same for one subscription to events, which has just started.
    case voicemailFor(event: String, VoicemailCount)
    /// Another user does not watch this one any more.
    case unwatched(by: UserAddress)
    /// A registration of this user for push has ended.
    case pushInvalidated(PushInvalidation)
}

/// A message from one owner to another one that is not forgotten with the process (docs/adr/0013).
///
/// The owner that sends it keeps it together with the decision that it follows from. The owner that receives it keeps
/// in one step that it was told, and the notifications that it has become. What the next process finds was therefore
/// not told, and is told then.
package struct OwedMessage: Equatable, Sendable {
    /// Its number, from 1 on. A message that is sent later has a higher one, also in the next process while earlier
    /// ones are there.
    package var number: UInt64
    /// The user whose registration is told.
    package var receiver: UserAddress
    /// What it is told.
    package var message: ServiceMessage

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(number: UInt64, receiver: UserAddress, message: ServiceMessage) {
        self.number = number
        self.receiver = receiver
        self.message = message
    }
}

extension ServiceMessage: Codable {
    private enum CodingKeys: String, CodingKey, CaseIterable {
        case messageResult, presence, askedPresence, voicemail, voicemailFor, unwatched, pushInvalidated
    }

    private enum EventKeys: String, CodingKey {
        case event, count
    }

    /// Reads an object with one member, whose name is the kind of the message.
    ///
    /// - Throws: `DecodingError` if there is no such member, or it cannot be read.
    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        switch CodingKeys.allCases.first(where: values.contains) {
        case .messageResult: self = .messageResult(try values.decode(MessageResult.self, forKey: .messageResult))
        case .presence: self = .presence(try values.decode(PresenceReport.self, forKey: .presence))
        case .askedPresence: self = .askedPresence(try values.decode(PresenceReport.self, forKey: .askedPresence))
        case .voicemail: self = .voicemail(try values.decode(VoicemailCount.self, forKey: .voicemail))
        case .voicemailFor:
            let event = try values.nestedContainer(keyedBy: EventKeys.self, forKey: .voicemailFor)
            self = .voicemailFor(
                event: try event.decode(String.self, forKey: .event),
                try event.decode(VoicemailCount.self, forKey: .count))
        case .unwatched: self = .unwatched(by: try values.decode(UserAddress.self, forKey: .unwatched))
        case .pushInvalidated:
            self = .pushInvalidated(try values.decode(PushInvalidation.self, forKey: .pushInvalidated))
        case nil:
            throw DecodingError.dataCorrupted(
                .init(codingPath: values.codingPath, debugDescription: "no message of a known kind"))
        }
    }

    /// Writes an object with one member, whose name is the kind of the message.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        switch self {
        case .messageResult(let result): try values.encode(result, forKey: .messageResult)
        case .presence(let report): try values.encode(report, forKey: .presence)
        case .askedPresence(let report): try values.encode(report, forKey: .askedPresence)
        case .voicemail(let count): try values.encode(count, forKey: .voicemail)
        case .voicemailFor(let name, let count):
            var event = values.nestedContainer(keyedBy: EventKeys.self, forKey: .voicemailFor)
            try event.encode(name, forKey: .event)
            try event.encode(count, forKey: .count)
        case .unwatched(let watcher): try values.encode(watcher, forKey: .unwatched)
        case .pushInvalidated(let invalidation): try values.encode(invalidation, forKey: .pushInvalidated)
        }
    }
}
