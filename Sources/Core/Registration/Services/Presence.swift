package import CallControl

/// What a user says of being there (spidr-wire §9).
package struct Presence: Hashable, Sendable, Codable {
    /// Whether the user can be reached.
    package enum Status: String, Hashable, Sendable, Codable, CaseIterable {
        /// The user can be reached.
        case open
        /// The user cannot be reached.
        case closed
    }

    /// What the user does.
    package enum Activity: String, Hashable, Sendable, Codable, CaseIterable {
        /// The user works at the device.
        case active
        /// The user has not touched the device for a while.
        case idle
        /// The user is away.
        case away
        /// The user is out for lunch.
        case lunch
        /// The user does something that has no word of its own.
        case other
        /// The user is busy.
        case busy
        /// The user is on vacation.
        case vacation
        /// The user has a call.
        case onThePhone
        /// The user does not say.
        case unknown
    }

    /// Whether the user can be reached.
    package var status: Status
    /// What the user does.
    package var activity: Activity
    /// The user's own words; may be empty.
    package var note: String

    /// Makes a presence of its parts; each parameter is the property of that name.
    package init(_ status: Status, _ activity: Activity = .unknown, note: String = "") {
        self.status = status
        self.activity = activity
        self.note = note
    }

    /// The presence of a user who has said nothing, or has no subscription any more.
    package static let absent = Presence(.closed)
}

extension Presence {
    /// What others are told while the user talks on the phone. What the user says stays as it is if it says that the
    /// user cannot be reached, or does something that goes before the call.
    ///
    /// - Parameter said: what the user says; `nil`: nothing.
    package static func onThePhone(saying said: Presence?) -> Presence {
        guard let said else { return Presence(.open, .onThePhone) }
        guard said.status == .open else { return said }
        switch said.activity {
        case .active, .idle, .onThePhone, .unknown: return Presence(.open, .onThePhone, note: said.note)
        case .away, .lunch, .other, .busy, .vacation: return said
        }
    }
}

/// What is kept of a user's presence for the next process.
package struct StoredPresence: Hashable, Sendable {
    /// What the user says; `nil`: nothing.
    package var said: Presence?
    /// Whether users who watch were told of a call. It has ended with the process, and they have to be told that.
    package var isOnThePhone: Bool

    /// Makes a value of its parts.
    package init(_ said: Presence?, isOnThePhone: Bool = false) {
        self.said = said
        self.isOnThePhone = isOnThePhone
    }

    /// Whether nothing has to be kept.
    package var isEmpty: Bool { said == nil && !isOnThePhone }

    /// The presence that users who watch were told last.
    var told: Presence { isOnThePhone ? .onThePhone(saying: said) : said ?? .absent }
}

extension StoredPresence: Codable {
    private enum CodingKeys: String, CodingKey {
        case isOnThePhone = "onThePhone"
        case isSaid = "said"
    }

    /// Reads the members of a ``Presence``, and beside them `onThePhone`, and `said` if the user has said nothing.
    ///
    /// - Throws: `DecodingError`.
    package init(from decoder: any Decoder) throws {
        let presence = try Presence(from: decoder)
        let values = try decoder.container(keyedBy: CodingKeys.self)
        said = try values.decodeIfPresent(Bool.self, forKey: .isSaid) == false ? nil : presence
        isOnThePhone = try values.decodeIfPresent(Bool.self, forKey: .isOnThePhone) ?? false
    }

    /// Writes what ``init(from:)`` reads. Former versions read it as the presence alone.
    ///
    /// - Throws: what the encoder throws.
    package func encode(to encoder: any Encoder) throws {
        try (said ?? .absent).encode(to: encoder)
        var values = encoder.container(keyedBy: CodingKeys.self)
        if said == nil { try values.encode(false, forKey: .isSaid) }
        if isOnThePhone { try values.encode(true, forKey: .isOnThePhone) }
    }
}

/// The presence of one user, as other users are told.
package struct PresenceReport: Hashable, Sendable, Codable {
    /// The user whose presence it is.
    package var user: UserAddress
    /// The presence.
    package var presence: Presence

    /// Makes a report of its parts.
    package init(_ user: UserAddress, _ presence: Presence) {
        self.user = user
        self.presence = presence
    }
}

/// How many voice messages a user has.
package struct VoicemailCount: Hashable, Sendable, Codable {
    /// Those that the user has not heard, 0 or more.
    package var unheard: Int
    /// All that there are, `unheard` or more.
    package var total: Int

    /// Makes a count.
    ///
    /// - Parameters:
    ///   - unheard: messages that were not heard; a negative number counts as 0.
    ///   - heard: messages that were heard; a negative number counts as 0.
    package init(unheard: Int, heard: Int) {
        self.unheard = max(0, unheard)
        total = self.unheard + max(0, heard)
    }

    /// No messages.
    package static let empty = VoicemailCount(unheard: 0, heard: 0)
}
