package import CallControl

/// `addressBookRequest` of `POST` and `PUT` (spidr-wire §10).
package struct AddressBookRequest: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "addressBookRequest"

    /// The entries to add; in `PUT` the one that takes the place of another.
    package var addressBookEntries: [AddressBookField]

    /// Makes a request with these entries.
    package init(_ entries: [AddressBookField]) { addressBookEntries = entries }
}

/// An entry of an address book on the wire (spidr-wire §10). Other members of a request are ignored.
package struct AddressBookField: Codable, Equatable, Sendable {
    /// The name of the entry, which is its nickname. Only in answers: in a request it says nothing.
    package var entryId: String?
    /// The nickname; `nil` in `PUT`: it stays as it is.
    package var nickname: String?
    /// The address to call or to write to; `nil`: none.
    package var primaryContact: String?
    /// The first name; `nil`: none.
    package var firstName: String?
    /// The last name; `nil`: none.
    package var lastName: String?
    /// The address for electronic mail; `nil`: none.
    package var emailAddress: String?
    /// The telephone number at home; `nil`: none.
    package var homePhone: String?
    /// The number of the mobile telephone; `nil`: none.
    package var mobilePhone: String?
    /// The telephone number at work; `nil`: none.
    package var workPhone: String?
    /// Whether the user watches the presence of the person; `nil` in a request: no.
    package var friendStatus: Bool?

    private enum CodingKeys: String, CodingKey {
        case entryId, nickname, primaryContact, firstName, lastName, emailAddress, homePhone, mobilePhone, workPhone
        case friendStatus
    }

    /// Reads an entry. `friendStatus` may come as a string (spidr-wire §1.3).
    ///
    /// - Throws: `DecodingError` if a field has the wrong type.
    package init(from decoder: any Decoder) throws {
        let fields = try decoder.container(keyedBy: CodingKeys.self)
        func text(_ key: CodingKeys) throws -> String? { try fields.decodeIfPresent(String.self, forKey: key) }
        entryId = try text(.entryId)
        nickname = try text(.nickname)
        primaryContact = try text(.primaryContact)
        firstName = try text(.firstName)
        lastName = try text(.lastName)
        emailAddress = try text(.emailAddress)
        homePhone = try text(.homePhone)
        mobilePhone = try text(.mobilePhone)
        workPhone = try text(.workPhone)
        friendStatus = try fields.decodeLenientBoolean(forKey: .friendStatus)
    }

    /// Writes an entry into an answer.
    package init(_ entry: AddressBookEntry) {
        entryId = entry.nickname
        nickname = entry.nickname
        primaryContact = entry.details[.primaryContact]
        firstName = entry.details[.firstName]
        lastName = entry.details[.lastName]
        emailAddress = entry.details[.emailAddress]
        homePhone = entry.details[.homePhone]
        mobilePhone = entry.details[.mobilePhone]
        workPhone = entry.details[.workPhone]
        friendStatus = entry.isFriend
    }
}

extension AddressBookRequest {
    /// The entries to add.
    ///
    /// - Parameter limit: the most bytes of UTF-8 in one field.
    /// - Throws: the first fault that is found; it names the field.
    package func added(limit: Int) throws(RequestFault) -> [AddressBookEntry] {
        guard !addressBookEntries.isEmpty else { throw .unusable(field: Self.entries, reason: "has no entry") }
        var added: [AddressBookEntry] = []
        for (index, field) in addressBookEntries.enumerated() {
            added.append(try entry(field, at: index, otherwise: nil, limit: limit))
        }
        return added
    }

    /// The entry that takes the place of the one with this nickname.
    ///
    /// - Parameter limit: the most bytes of UTF-8 in one field.
    /// - Throws: the first fault that is found; it names the field.
    package func replacement(of nickname: String, limit: Int) throws(RequestFault) -> AddressBookEntry {
        guard addressBookEntries.count == 1 else {
            throw .unusable(field: Self.entries, reason: "must have one entry, the one in the path")
        }
        return try entry(addressBookEntries[0], at: 0, otherwise: nickname, limit: limit)
    }

    private static let entries = "\(wrapper).addressBookEntries"

    private func entry(
        _ field: AddressBookField, at index: Int, otherwise nickname: String?, limit: Int
    ) throws(RequestFault) -> AddressBookEntry {
        func path(_ name: String) -> String { "\(Self.entries).\(index).\(name)" }
        guard let nickname = field.nickname ?? nickname else {
            throw .missing(fields: [path(AddressBookEntry.nicknameField)], reason: "it is the name of the entry")
        }
        let entry = AddressBookEntry(
            nickname: nickname, details: field.details, isFriend: field.friendStatus ?? false)
        do throws(AddressBookEntry.Fault) {
            try entry.check(limit: limit)
        } catch {
            switch error {
            case .tooLong(let name, let limit):
                throw .unusable(field: path(name), reason: "has more than \(limit) bytes")
            case .unusable(AddressBookEntry.nicknameField):
                throw .unusable(
                    field: path(AddressBookEntry.nicknameField),
                    reason: "must be a text without control characters, and neither empty nor \".\" nor \"..\"")
            case .unusable(let name):
                throw .unusable(field: path(name), reason: "has control characters")
            }
        }
        return entry
    }
}

extension AddressBookField {
    fileprivate var details: [AddressBookEntry.Detail: String] {
        var details: [AddressBookEntry.Detail: String] = [:]
        for detail in AddressBookEntry.Detail.allCases { details[detail] = self[detail] }
        return details
    }

    private subscript(detail: AddressBookEntry.Detail) -> String? {
        switch detail {
        case .primaryContact: primaryContact
        case .firstName: firstName
        case .lastName: lastName
        case .emailAddress: emailAddress
        case .homePhone: homePhone
        case .mobilePhone: mobilePhone
        case .workPhone: workPhone
        }
    }
}
