/// Services of the protocol that this gateway does not provide (spidr-wire §9–§11), by path.
///
/// Each is refused with 403, in the wrapper of that service if it has one. Clients show the refusal to their users as
/// an error. A path with nothing behind it would look to them like a network that does not work (§12.1).
package enum AbsentService: String, CaseIterable, Sendable {
    case instantMessages = "/rest/version/{version}/user/{user}/instantmessage"
    case presence = "/rest/version/{version}/user/{user}/presence"
    case presenceWatcher = "/rest/version/{version}/user/{user}/presenceWatcher"
    case voicemail = "/rest/version/{version}/user/{user}/voicemail"
    case addressBook = "/rest/version/{version}/user/{user}/addressbook"
    case contacts = "/rest/version/{version}/user/{user}/addressbook/contacts"
    case contact = "/rest/version/{version}/user/{user}/addressbook/contacts/{id}"
    case directory = "/rest/version/{version}/user/{user}/directory"
    case userProfile = "/rest/version/{version}/user/{user}/userProfileData"
    case routeList = "/rest/version/{version}/user/{user}/routelist"
    case clickToCall = "/rest/version/{version}/user/{user}/clicktocall"
    case imrn = "/rest/version/{version}/user/{user}/imrn"
    case eventSubscriptions = "/rest/version/{version}/user/{user}/eventSubscription"
    case eventSubscription = "/rest/version/{version}/user/{user}/eventSubscription/{id}"
    case applePushDevices = "/rest/version/{version}/user/{user}/push/apple/devices"
    case applePushDevice = "/rest/version/{version}/user/{user}/push/apple/devices/{id}"
    case googlePushDevices = "/rest/version/{version}/user/{user}/push/google/devices"
    case googlePushDevice = "/rest/version/{version}/user/{user}/push/google/devices/{id}"
    case localization = "/rest/version/{version}/localization"

    /// The path, with `{version}`, `{user}` and `{id}` in place of the segments that vary.
    package var template: String { rawValue }

    /// The top-level key below which clients of the service look for `statusCode` (spidr-wire §9–§11).
    package var errorWrapper: ErrorWrapper {
        switch self {
        case .instantMessages: .instantMessage
        case .presence: .presence
        case .presenceWatcher: .presenceWatcher
        case .voicemail: .voicemail
        case .addressBook, .contacts, .contact: .addressBook
        case .directory: .directory
        case .userProfile: .userProfile
        case .routeList: .routeList
        case .clickToCall: .clickToCall
        case .imrn: .imrn
        case .eventSubscriptions, .eventSubscription: .eventSubscription
        case .applePushDevices: .applePush
        case .googlePushDevices: .googlePush
        // Clients delete a push registration and read the error without a wrapper (spidr-wire §1.5).
        case .applePushDevice, .googlePushDevice, .localization: .none
        }
    }
}
