package import CallControl
package import Push

/// Sends a push to a device so that an operator sees whether it arrives.
package protocol PushTrial: Sendable {
    /// Sends a push, and returns what has become of it.
    ///
    /// - Returns: `nil`: there is no such registration.
    func tryOut(_ device: PushDeviceID, with kind: PushTrialKind) async -> PushOutcome?
}

/// What is pushed to try a registration out.
package enum PushTrialKind: String, Sendable, CaseIterable {
    /// A call comes in, whose caller is the gateway. The device finds no such call.
    case call
    /// That call is over.
    case cancel
    /// A text for the user.
    case notification
    /// Nothing but that the app is to look after its registration.
    case refresh
}
