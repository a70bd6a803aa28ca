package import CallControl
package import Push

/// Sends pushes to providers. Implemented by `PushClient`.
package protocol PushSender: Sendable {
    /// Sends a message to a device, and calls `completion` once with what has become of it, on any thread.
    func send(
        _ message: PushMessage, to registration: PushRegistration,
        completion: @escaping @Sendable (PushOutcome) -> Void)
    /// A message that was sent is not wanted any more: it is given up unless the provider has been asked, and is not
    /// sent again. Its completion is called as ever.
    func withdraw(_ message: PushID)
}

/// Is told what has become of registrations. Implemented by `LocalSwitchboard`.
package protocol PushNews: Sendable {
    /// A provider says that a device cannot be reached any more, and its registration was removed.
    func pushInvalidated(_ registration: PushRegistration, of user: UserAddress, because reason: String)
}
