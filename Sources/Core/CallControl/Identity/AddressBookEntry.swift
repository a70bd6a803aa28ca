/// One entry of a user's address book (spidr-wire §10). The nickname is unique in the book, and compared as it is
/// written.
package struct AddressBookEntry: Equatable, Sendable {
    /// What can be noted of a person; the raw value is the name of the field.
    package enum Detail: String, CaseIterable, Sendable {
        /// The address to call or to write to.
        case primaryContact
        /// The first name.
        case firstName
        /// The last name.
        case lastName
        /// The address for electronic mail.
        case emailAddress
        /// The telephone number at home.
        case homePhone
        /// The number of the mobile telephone.
        case mobilePhone
        /// The telephone number at work.
        case workPhone
    }

    /// Why an entry cannot be kept.
    package enum Fault: Error, Equatable {
        /// A field has more bytes of UTF-8 than `limit`.
        case tooLong(field: String, limit: Int)
        /// A field has control characters, or a nickname could not stand in a path.
        case unusable(field: String)
    }

    /// The name of the entry; 1 byte or more.
    package let nickname: String
    /// What is noted of the person. A detail that is not there was not given.
    package let details: [Detail: String]
    /// Whether the user watches the presence of the person.
    package let isFriend: Bool

    /// The name of the field that `nickname` comes from.
    package static let nicknameField = "nickname"

    /// Makes an entry of its parts, which have been checked before.
    package init(nickname: String, details: [Detail: String], isFriend: Bool) {
        self.nickname = nickname
        self.details = details
        self.isFriend = isFriend
    }

    /// Throws if the entry cannot be kept.
    ///
    /// - Parameter limit: the most bytes of UTF-8 in one field.
    package func check(limit: Int) throws(Fault) {
        try Self.check(nickname, Self.nicknameField, limit: limit)
        // A client leaves these out of the path of the entry (RFC 3986 §5.2.4).
        guard !["", ".", ".."].contains(nickname) else { throw .unusable(field: Self.nicknameField) }
        for detail in Detail.allCases { try Self.check(details[detail] ?? "", detail.rawValue, limit: limit) }
    }

    private static func check(_ text: String, _ field: String, limit: Int) throws(Fault) {
        guard text.utf8.count <= limit else { throw .tooLong(field: field, limit: limit) }
        guard text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }) else {
            throw .unusable(field: field)
        }
    }
}
