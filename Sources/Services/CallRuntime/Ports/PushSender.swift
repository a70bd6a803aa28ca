package import CallControl
package import Push

/// Sends pushes to providers. Implemented by `PushClient`.
package protocol PushSender: Sendable {
    /// Sends a message to a device, and calls `completion` once with what has become of it, on any thread; and with the
    /// registration as it was when the message was last sent, since its token may have changed while the message
    /// waited.
    func send(
        _ message: PushMessage, to registration: PushRegistration,
        completion: @escaping @Sendable (PushOutcome, PushRegistration) -> Void)
    /// A message that was sent is not wanted any more: it is given up unless the provider has been asked, and is not
    /// sent again. Its completion is called as ever.
    func withdraw(_ message: PushID)
}

/// Is told what has become of registrations. Implemented by `LocalSwitchboard`.
package protocol PushNews: Sendable {
    /// A registration was removed, and not by its user: a provider says that its device cannot be reached any more, or
    /// an operator removed it.
    func pushInvalidated(_ registration: PushRegistration, of user: UserAddress, because reason: String)
    /// A push that was to wake a device for a call has failed: the call need not wait for the device.
    ///
    /// - Parameter told: what the device would have been told.
    func notWoken(_ device: PushDeviceID, for told: LoggedEvent)
}
