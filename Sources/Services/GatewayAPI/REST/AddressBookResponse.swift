package import CallControl
package import SPiDR

/// `addressBookResponse`: the answer to every request about the address book (spidr-wire §10).
package struct AddressBookResponse: WireObject, Equatable {
    /// The top-level key of the body.
    package static let wrapper = "addressBookResponse"

    /// Always 0, success (spidr-wire §1.6).
    package var statusCode = 0
    /// The entries that the request is about, in the order of their nicknames. `nil` in the answer to `DELETE`.
    package var addressBookEntries: [AddressBookField]?

    /// Makes the answer to `DELETE`.
    package init() {}

    /// Makes the answer with these entries.
    package init(_ entries: [AddressBookEntry]) { addressBookEntries = entries.map(AddressBookField.init) }
}
