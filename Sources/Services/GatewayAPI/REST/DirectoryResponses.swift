package import CallControl
import SPiDR

/// `directory`: the answer to a search for users (spidr-wire §10).
package struct DirectoryResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "directory"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0
    /// The users who were found.
    package var directoryItems: [PersonField]
    /// How many they are.
    package var returnedDirectoryCount: Int

    /// Makes the answer with these users.
    package init(_ users: [PersonField]) {
        directoryItems = users
        returnedDirectoryCount = users.count
    }
}

/// What clients show of a person (spidr-wire §10).
package struct PersonField: Codable, Equatable, Sendable {
    /// The name of the entry: the address.
    package var entryId: String
    /// The part of the address before `@`.
    package var nickname: String
    /// The address to call.
    package var primaryContact: String
    /// The display name up to its last space.
    package var firstName: String
    /// The last word of the display name; empty if it has one word.
    package var lastName: String

    /// Makes the entry of a user.
    package init(_ address: UserAddress, displayName: String) {
        let name = PersonName(displayName)
        entryId = address.text
        nickname = String(address.user)
        primaryContact = address.text
        firstName = name.first
        lastName = name.last
    }
}

/// `userProfileData`: what is known of the user who asks (spidr-wire §10).
package struct UserProfileResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "userProfileData"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0
    /// The display name up to its last space.
    package var firstName: String
    /// The last word of the display name; empty if it has one word.
    package var lastName: String
    /// The services that the user can subscribe to.
    package var assignedService: [String]

    /// Makes the profile of a user.
    package init(displayName: String, services: [String]) {
        let name = PersonName(displayName)
        firstName = name.first
        lastName = name.last
        assignedService = services
    }
}
