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
