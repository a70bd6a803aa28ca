/// Services of the protocol that this gateway does not have (spidr-wire §9–§11), by path.
///
/// Each is refused in the words of its own. Clients show that to their users; a path with nothing at it they take for a
/// network that does not work (§12.1).
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

    package var template: String { rawValue }

    /// Where its clients look for `statusCode`.
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
        // Push registrations are deleted without a wrapper (spidr-wire §1.5).
        case .applePushDevice, .googlePushDevice, .localization: .none
        }
    }
}
