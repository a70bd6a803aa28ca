/// How the user of a leg is called.
package struct DisplayName: Hashable, Sendable, Codable {
    /// The display name, for people; may be empty.
    package var name: String
    /// An address, `user@domain`.
    package var number: String

    /// Makes a name of its parts; each parameter is the property of that name.
    package init(name: String, number: String) {
        self.name = name
        self.number = number
    }
}

/// Who is on one side of a call, as a leg is shown it.
package enum ShownParty: Hashable, Sendable {
    /// A user or an application.
    case user(DisplayName)
    /// The conference that the leg is part of, or that it waits for. `domain`: that of the leg's own user.
    case conference(domain: String)
}
