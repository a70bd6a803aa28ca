package import CallControl
package import Primitives

/// Everything a signalling dialect can ask for: the one door between wire protocols and call handling.
///
/// Every function names the authenticated user first; a session or subscription of somebody else is treated as
/// one that does not exist, so that nothing about it is revealed. `device` is what the request calls the device it is from
/// (spidr-wire §1.2); `nil` if it calls it nothing.
package protocol Switchboard: Sendable {
    // MARK: Subscriptions (spidr-wire §3)

    func subscribe(_ user: UserAddress, _ request: SubscriptionRequest) async throws(RegistrationError)
        -> SubscriptionGrant
    func extend(_ user: UserAddress, _ subscription: SubscriptionID, _ request: SubscriptionRequest)
        async throws(RegistrationError)
        -> SubscriptionGrant
    func unsubscribe(_ user: UserAddress, _ subscription: SubscriptionID) async throws(RegistrationError)

    // MARK: Guests (spidr-wire §7)

    /// Subscribes somebody without an account, who may call `account` and nobody else. The names in the grant begin with the
    /// guest's `resourcePrefix`; to everything else, a guest is a user.
    ///
    /// - Parameter network: where the guest comes from; `nil` if that is not known.
    func admit(
        _ request: SubscriptionRequest, toCall account: UserAddress, from network: SourceNetwork?
    ) async throws(RegistrationError) -> SubscriptionGrant
    /// The account that a guest came to call; `nil` if there is no such guest any more.
    func account(of guest: GuestID) async -> UserAddress?

    // MARK: Notification channel (spidr-wire §4)

    /// Whether a WebSocket with this channel id may open at all; asked before the upgrade is accepted.
    func channelExists(_ user: UserAddress, _ channel: ChannelID) async -> Bool
    /// The socket is open: replay what was missed, then go on. `false` if the channel ended meanwhile.
    func channelOpened(_ user: UserAddress, _ channel: ChannelID, on socket: SocketID) async -> Bool
    func channelClosed(_ user: UserAddress, _ channel: ChannelID, on socket: SocketID) async

    /// Holds back notifications to this user's subscriptions until the matching `requestAnswered`, so that a
    /// request is answered before anything it causes is notified (spidr-wire §4.3). Notifications caused by others
    /// wait no longer than requests that had begun before them.
    ///
    /// - Parameter session: the session that the request is about, if it names one.
    func requestBegan(_ user: UserAddress, about session: SessionID?) async -> RequestTicket
    func requestAnswered(_ ticket: RequestTicket) async

    // MARK: Calls (spidr-wire §6)

    func startCall(_ user: UserAddress, _ request: CallStartRequest) async throws(CallError) -> SessionID
    func ringing(_ user: UserAddress, _ session: SessionID, from device: SubscriptionID?) async throws(CallError)
    func answer(_ user: UserAddress, _ session: SessionID, _ request: CallAnswerRequest) async throws(CallError)
    /// - Parameter replacement: what is declined is a call in place of one that the user has (§8.8).
    func reject(_ user: UserAddress, _ session: SessionID, from device: SubscriptionID?, replacement: Bool)
        async throws(CallError)
    func end(_ user: UserAddress, _ session: SessionID, from device: SubscriptionID?, reasonText: String?)
        async throws(CallError)
    func callSession(_ user: UserAddress, _ session: SessionID) async throws(CallError) -> CallSession
    func audit(_ user: UserAddress, _ session: SessionID) async throws(CallError)

    // MARK: The user's calls, additions of ours, and the call log (spidr-wire §10)

    /// Calls that go on, in the order of their coming.
    func callSessions(_ user: UserAddress) async -> [CallSession]
    /// The latest first; see `CallLog`.
    func callRecords(_ user: UserAddress, from start: Int, count: Int) async -> [CallLogRecord]
    func callRecord(_ user: UserAddress, _ id: SessionID) async -> CallLogRecord?
    /// `false` if there was none.
    func removeCallRecord(_ user: UserAddress, _ id: SessionID) async -> Bool
    func removeCallRecords(_ user: UserAddress) async

    // MARK: Inside a call (spidr-wire §8)

    /// Offers, or asks for an offer if the request has no description.
    func offer(_ user: UserAddress, _ session: SessionID, _ request: CallUpdateRequest) async throws(CallError)
    func respond(_ user: UserAddress, _ session: SessionID, _ request: CallUpdateRequest) async throws(CallError)
    func candidates(_ user: UserAddress, _ session: SessionID, _ candidates: [TrickledLine]) async throws(CallError)
    func send(_ user: UserAddress, _ session: SessionID, _ content: CustomContent) async throws(CallError)
    /// Sends a call that rings to somebody else.
    func forward(_ user: UserAddress, _ session: SessionID, to address: UserAddress) async throws(CallError)
    /// Brings the other end together with somebody else.
    ///
    /// - Parameter consultation: the user's call with that somebody; `nil`: the address is rung.
    func transfer(_ user: UserAddress, _ session: SessionID, to address: UserAddress, consultation: SessionID?)
        async throws(CallError)
    /// Makes a conference of two calls of the user.
    func join(_ user: UserAddress, _ first: SessionID, _ second: SessionID, _ request: CallUpdateRequest)
        async throws(CallError) -> SessionID

    // MARK: Media of calls, additions of ours (docs/client.md)

    func play(_ user: UserAddress, _ session: SessionID, _ playback: Playback, to target: MediaTarget)
        async throws(CallError)
    func stopPlaying(_ user: UserAddress, _ session: SessionID, to target: MediaTarget) async throws(CallError)
    func sendDigits(_ user: UserAddress, _ session: SessionID, _ digits: DigitSequence, to target: MediaTarget)
        async throws(CallError)
    /// The caller's leg is `own`.
    func statistics(_ user: UserAddress, _ session: SessionID) async throws(CallError) -> (
        own: Leg, statistics: CallMediaStatistics
    )
}

/// Names one request in flight of one user.
package struct RequestTicket: Hashable, Sendable {
    package let user: UserAddress
    package let number: UInt64
    /// What the client has to digest once the request is answered, before it hears more of it (spidr-wire §12.1).
    package var answer: AnsweredRequest?

    package init(user: UserAddress, number: UInt64) {
        self.user = user
        self.number = number
    }
}
