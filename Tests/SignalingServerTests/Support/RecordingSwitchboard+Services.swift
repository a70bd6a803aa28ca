import CallControl
import CallRuntime
import Registration

extension RecordingSwitchboard: UserServices {
    nonisolated var maximumMessageLength: Int { 20 }

    func send(_ request: MessageRequest, by user: UserAddress) async throws(ServiceRefusal) -> String {
        try await noteService(.send(user, request))
        return "m1"
    }

    func setPresence(_ presence: Presence, of user: UserAddress) async throws(ServiceRefusal) {
        try await noteService(.presence(user, presence))
    }

    func watch(_ users: [UserAddress], by user: UserAddress) async throws(ServiceRefusal) -> WatchGrant {
        try await noteService(.watch(user, users))
        return WatchGrant(.seconds(3_600), isPartial: users.count > 1)
    }

    func stopWatching(_ users: [UserAddress], by user: UserAddress) async { await note(.stopWatching(user, users)) }

    func tellPresence(of users: [UserAddress], to user: UserAddress) async throws(ServiceRefusal) {
        try await noteService(.getPresence(user, users))
    }

    func subscribe(
        to kind: EventPackage, of users: [UserAddress], for time: Duration?, by user: UserAddress
    ) async throws(ServiceRefusal) -> (id: String, grant: WatchGrant) {
        try await noteService(.subscribeToEvents(user, kind, users, time))
        return ("e1", WatchGrant(time ?? .seconds(3_600)))
    }

    func extend(
        event id: String, of users: [UserAddress], for time: Duration?, by user: UserAddress
    ) async throws(ServiceRefusal) -> WatchGrant {
        try await noteService(.extendEvents(user, id, users, time))
        return WatchGrant(time ?? .seconds(3_600))
    }

    func unsubscribe(event id: String, by user: UserAddress) async throws(ServiceRefusal) {
        try await noteService(.unsubscribeFromEvents(user, id))
    }

    func voicemail(of user: UserAddress) async -> VoicemailCount { voicemail }

    private func noteService(_ event: Event) async throws(ServiceRefusal) {
        await note(event)
        if let serviceRefusal { throw serviceRefusal }
    }
}
