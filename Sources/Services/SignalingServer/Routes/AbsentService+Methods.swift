package import GatewayAPI
package import HTTPTypes

extension AbsentService {
    /// What clients ask of it; whatever they ask, the answer is the same.
    package var methods: [HTTPRequest.Method] {
        switch self {
        case .instantMessages, .presence, .presenceWatcher, .contacts, .clickToCall, .imrn, .eventSubscriptions,
            .applePushDevices, .googlePushDevices:
            [.post]
        case .voicemail, .addressBook, .directory, .userProfile, .localization: [.get]
        case .contact: [.get, .put, .delete]
        case .routeList: [.get, .put]
        case .eventSubscription, .applePushDevice, .googlePushDevice: [.put, .delete]
        }
    }
}
