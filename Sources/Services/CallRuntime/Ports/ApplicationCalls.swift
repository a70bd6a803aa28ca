package import CallControl

/// The calls of applications, as `/v1` sees them.
package protocol ApplicationCalls: Sendable {
    /// Sets the applications from now on; those that are gone lose their calls.
    func setApplications(_ applications: [RegisteredApplication]) async

    /// Starts a call from an address of the application.
    ///
    /// - Returns: the new call, which may have ended already if nobody could be rung.
    /// - Throws: `ApplicationRefusal`.
    func start(
        _ request: ApplicationCallRequest, by application: ApplicationName
    ) async throws(ApplicationRefusal) -> ApplicationCall

    /// One call of the application.
    ///
    /// - Throws: `noSuchCall` if it is unknown, forgotten, or another application's.
    func call(
        _ id: SessionID, of application: ApplicationName
    ) async throws(ApplicationRefusal) -> ApplicationCall

    /// All calls of the application, in the order in which it joined them. A call that has ended is shown for a minute.
    func calls(of application: ApplicationName) async -> [ApplicationCall]

    /// Lets a socket carry the audio of a call. Only one can at a time.
    ///
    /// - Returns: the name of the stream, for `closed`.
    /// - Throws: `ApplicationRefusal`; then nothing has changed.
    func open(
        _ link: StreamLink, _ terms: StreamTerms, in id: SessionID, by application: ApplicationName
    ) async throws(ApplicationRefusal) -> StreamID

    /// The socket of a stream is gone: the call may have another one.
    func closed(_ stream: StreamID, in id: SessionID, by application: ApplicationName) async

    /// Carries out a command.
    ///
    /// - Parameter version: what the application believes to be the version of the call; `nil`: whatever it is.
    /// - Returns: the call after the command.
    /// - Throws: `ApplicationRefusal`; then nothing has changed.
    func perform(
        _ command: ApplicationCommand, in id: SessionID, by application: ApplicationName, expecting version: UInt64?
    ) async throws(ApplicationRefusal) -> ApplicationCall
}

/// Why a request of an application was refused.
package enum ApplicationRefusal: Error, Equatable, Sendable {
    /// The call is unknown, forgotten, or another application's.
    case noSuchCall
    /// The call has another version by now.
    case versionMismatch(ApplicationCall)
    /// The state of the call does not allow the command. The sentence says why.
    case notAllowed(ApplicationCall, String)
    /// A value cannot be used: the name of the field, and a predicate for a sentence about it.
    case invalid(field: String, String)
    /// A limit is reached; the sentence says which. `retryAfter`: the time until it may work; `nil`: nobody knows.
    case limited(String, retryAfter: Duration?)
    /// The gateway cannot take the call now: its storage fails, it is stopping, or its media plane is full.
    case unavailable
    /// Applications have no calls here: media goes from peer to peer.
    case notProvided
    /// Calls cannot be recorded here.
    case recordingNotProvided
    /// The call was to come from this address, which is not one of the application.
    case notOwner(UserAddress)
}
