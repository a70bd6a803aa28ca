package import CallControl
import EventAPI
package import Push
import Registration

/// What becomes of registrations for push.
extension LocalSwitchboard: PushNews {
    /// Tells the user's subscriptions, and programs that follow events, that a registration has ended.
    package func pushInvalidated(_ registration: PushRegistration, of user: UserAddress, because reason: String) {
        let invalidation = PushInvalidation(
            device: PushDeviceID(registration.id), provider: registration.provider.rawValue,
            bundleID: registration.bundleID, clientCorrelator: registration.clientCorrelator, reason: reason)
        let event = EventBody(
            .pushRegistrationRemoved(
                user: user, registration: registration.id, provider: registration.provider.rawValue,
                bundleID: registration.bundleID, reason: reason),
            at: environment.clock.epochMilliseconds)
        environment.append(
            [.published(Publication(event, of: .user(user)))], telling: [(user, .pushInvalidated(invalidation))])
    }

    /// Tells a call that a device cannot be woken. A call that is over is told nothing.
    package func notWoken(_ device: PushDeviceID, for told: LoggedEvent) {
        guard let leg = told.event.leg else { return }
        environment.router.post(.deviceChanged(leg, .notWoken(device)), to: told.call)
    }
}
