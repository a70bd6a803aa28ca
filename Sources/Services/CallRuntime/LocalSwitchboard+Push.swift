package import CallControl
package import Push
import Registration

/// What becomes of registrations for push.
extension LocalSwitchboard: PushNews {
    /// Tells the user's subscriptions that a registration has ended.
    package func pushInvalidated(_ registration: PushRegistration, of user: UserAddress, because reason: String) {
        let invalidation = PushInvalidation(
            device: PushDeviceID(registration.id), provider: registration.provider.rawValue,
            bundleID: registration.bundleID, clientCorrelator: registration.clientCorrelator, reason: reason)
        environment.append([], telling: [(user, .pushInvalidated(invalidation))])
    }
}
