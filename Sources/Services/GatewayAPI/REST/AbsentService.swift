/// Services of the protocol that this gateway does not provide (spidr-wire §10, §11), by path.
///
/// Each is refused with 403, in the wrapper of that service if it has one. Clients show the refusal to their users as
/// an error. A path with nothing behind it would look to them like a network that does not work (§12.1).
package enum AbsentService: String, CaseIterable, Sendable {
    /// The address book of the user (spidr-wire §10).
    case addressBook = "/rest/version/{version}/user/{user}/addressbook"
    /// All contacts of the address book (spidr-wire §10).
    case contacts = "/rest/version/{version}/user/{user}/addressbook/contacts"
    /// One contact of the address book, by its nickname (spidr-wire §10).
    case contact = "/rest/version/{version}/user/{user}/addressbook/contacts/{id}"
    /// The list of routes (spidr-wire §10).
    case routeList = "/rest/version/{version}/user/{user}/routelist"
    /// A call that the server places between two addresses (spidr-wire §10).
    case clickToCall = "/rest/version/{version}/user/{user}/clicktocall"
    /// The number that a mobile phone dials to reach the service: IP multimedia routing number (spidr-wire §10).
    case imrn = "/rest/version/{version}/user/{user}/imrn"
    /// Where devices register for push by Apple (spidr-wire §11).
    case applePushDevices = "/rest/version/{version}/user/{user}/push/apple/devices"
    /// One registration for push by Apple (spidr-wire §11).
    case applePushDevice = "/rest/version/{version}/user/{user}/push/apple/devices/{id}"
    /// Where devices register for push by Google (spidr-wire §11).
    case googlePushDevices = "/rest/version/{version}/user/{user}/push/google/devices"
    /// One registration for push by Google (spidr-wire §11).
    case googlePushDevice = "/rest/version/{version}/user/{user}/push/google/devices/{id}"
    /// Translated texts, which belong to no user (spidr-wire §10).
    case localization = "/rest/version/{version}/localization"

    /// The path, with `{version}`, `{user}` and `{id}` in place of the segments that vary.
    package var template: String { rawValue }

    /// The top-level key below which clients of the service look for `statusCode` (spidr-wire §10, §11).
    package var errorWrapper: ErrorWrapper {
        switch self {
        case .addressBook, .contacts, .contact: .addressBook
        case .routeList: .routeList
        case .clickToCall: .clickToCall
        case .imrn: .imrn
        case .applePushDevices: .applePush
        case .googlePushDevices: .googlePush
        // Clients delete a push registration and read the error without a wrapper (spidr-wire §1.5).
        case .applePushDevice, .googlePushDevice, .localization: .none
        }
    }
}
