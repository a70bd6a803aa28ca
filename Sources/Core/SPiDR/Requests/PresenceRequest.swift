package import CallControl
package import Registration

/// `presenceRequest` of `POST …/presence` (spidr-wire §9).
package struct PresenceRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "presenceRequest"

    /// `open` or `closed`.
    package var status: String
    /// One of nine words, such as `busy`; `nil`: `unknown`.
    package var activity: String?
    /// The user's own words; `nil`: none.
    package var note: String?

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(status: String, activity: String? = nil, note: String? = nil) {
        self.status = status
        self.activity = activity
        self.note = note
    }

    /// The longest note, in bytes of UTF-8.
    package static let maximumNoteLength = 256

    /// The presence that is meant.
    ///
    /// - Throws: a fault that names the field.
    package func presence() throws(RequestFault) -> Presence {
        guard let status = Presence.Status.allCases.first(where: { $0.word == self.status }) else {
            throw .unusable(
                field: "\(Self.wrapper).status",
                reason: "must be one of \(Presence.Status.allCases.map(\.word).joined(separator: ", "))")
        }
        let word = self.activity ?? ""
        guard
            let activity = word.isEmpty ? .unknown : Presence.Activity.allCases.first(where: { $0.word == word })
        else {
            throw .unusable(
                field: "\(Self.wrapper).activity",
                reason: "must be one of \(Presence.Activity.allCases.map(\.word).joined(separator: ", "))")
        }
        let note = self.note ?? ""
        guard note.utf8.count <= Self.maximumNoteLength else {
            throw .unusable(field: "\(Self.wrapper).note", reason: "is longer than \(Self.maximumNoteLength) bytes")
        }
        return Presence(status, activity, note: note)
    }
}

/// `presenceWatcherRequest` of `POST …/presenceWatcher` (spidr-wire §9).
package struct PresenceWatcherRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "presenceWatcherRequest"

    /// The addresses of the users who are meant.
    package var userList: [String]
    /// `watch`, `stopwatch` or `get`.
    package var action: String

    /// Makes a request of its parts; each parameter is the property of that name.
    package init(userList: [String], action: String) {
        self.userList = userList
        self.action = action
    }

    /// What a user asks of the presence of others.
    package enum Meaning: Equatable, Sendable {
        /// To be told from now on.
        case watch([UserAddress])
        /// Not to be told any more.
        case stop([UserAddress])
        /// To be told once.
        case get([UserAddress])
    }

    /// The most users in one request.
    package static let maximumUsers = 200

    /// What is meant.
    ///
    /// - Parameter defaultDomain: completes names without a domain.
    /// - Throws: a fault that names the field.
    package func meaning(defaultDomain: String) throws(RequestFault) -> Meaning {
        guard !userList.isEmpty else {
            throw .missing(fields: ["\(Self.wrapper).userList"], reason: "it names whose presence is meant")
        }
        let users = try UserAddress.list(
            field: "\(Self.wrapper).userList", userList, limit: Self.maximumUsers, defaultDomain: defaultDomain)
        switch action {
        case "watch": return .watch(users)
        case "stopwatch": return .stop(users)
        case "get": return .get(users)
        default:
            throw .unusable(field: "\(Self.wrapper).action", reason: "must be one of watch, stopwatch, get")
        }
    }
}
