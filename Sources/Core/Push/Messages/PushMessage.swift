/// What is to be pushed to one device.
package struct PushMessage: Hashable, Sendable {
    /// What the push is about.
    package enum Kind: Hashable, Sendable {
        /// A call comes in.
        case call(PushedCall)
        /// A call that was pushed need not ring any more. The device is told by the same way as the call: a push that
        /// overtakes the call, or that comes without it, must be reported as a call too, and ended at once.
        case callOver(PushedCall, Ending)
        /// Something that the user is shown.
        case notification(Alert)
        /// Something for the app alone, which its notification says.
        case silent
        /// Something for the app alone: it looks after its registration.
        case refresh
    }

    /// Why a call need not ring any more. The words are those of CallKit's `CXCallEndedReason`.
    package enum Ending: String, Hashable, Sendable, Codable, CaseIterable {
        /// The caller has given up, or the call has ended in another way.
        case remoteEnded
        /// It has rung for all of its time.
        case unanswered
        /// Another device of the user has answered.
        case answeredElsewhere
        /// Another device of the user has declined.
        case declinedElsewhere
        /// The call has failed.
        case failed
    }

    /// What the user is shown.
    package struct Alert: Hashable, Sendable {
        /// The first line.
        package var title: String
        /// The text below; may be empty.
        package var body: String

        /// Makes an alert of its parts; each parameter is the property of that name.
        package init(title: String, body: String) {
            self.title = title
            self.body = body
        }
    }

    /// The name of the push. It is the same however often the push is sent.
    package var id: PushID
    /// What the push is about.
    package var kind: Kind
    /// The object `notificationMessage` as JSON (spidr-wire §5), in several forms, the fullest first: with the whole
    /// description, with a compressed one or its URL, without one. A provider gets the first that it has room for. If
    /// there is none, the push has no such object.
    package var forms: [String]
    /// When it was made, in milliseconds since 1970.
    package var time: UInt64
    /// When it is of no use any more, in milliseconds since 1970: for a call the end of the ring time. It is not sent
    /// afterwards, and the provider is told to drop it then.
    package var expires: UInt64
    /// A device that was offline gets the latest one of several pushes with the same key; `nil`: it gets each of them.
    /// Pushes about a call have the call's own key.
    package var collapseKey: String?

    /// Makes a message of its parts; each parameter is the property of that name.
    package init(id: PushID, _ kind: Kind, forms: [String], time: UInt64, expires: UInt64, collapseKey: String? = nil) {
        self.id = id
        self.kind = kind
        self.forms = forms
        self.time = time
        self.expires = expires
        self.collapseKey = collapseKey
    }

    /// Whether the user waits for it: it is about a call.
    package var isUrgent: Bool { call != nil }

    /// The call that it is about; `nil`: none.
    var call: PushedCall? {
        switch kind {
        case .call(let call), .callOver(let call, _): call
        case .notification, .silent, .refresh: nil
        }
    }

    /// The key by which it replaces others, with at most `limit` bytes.
    func collapseKey(limit: Int) -> String? {
        guard let key = call?.session ?? collapseKey else { return nil }
        return key.utf8.count <= limit && key.utf8.allSatisfy { (0x21...0x7E).contains($0) }
            ? key : PushID(naming: key).text
    }
}

/// What a device needs to show a call that comes in, before it has talked to the gateway.
package struct PushedCall: Hashable, Sendable {
    /// The name of the user's leg, `sessionData`.
    package var session: String
    /// The caller's name, as the user is shown it; may be empty.
    package var callerName: String
    /// The caller's number or address.
    package var callerNumber: String
    /// Whether the caller offers video.
    package var hasVideo: Bool

    /// Makes a call of its parts; each parameter is the property of that name.
    package init(session: String, callerName: String, callerNumber: String, hasVideo: Bool) {
        self.session = session
        self.callerName = callerName
        self.callerNumber = callerNumber
        self.hasVideo = hasVideo
    }

    /// The name that an app gives the call towards its system. All pushes about the call have the same one.
    package var uuid: PushID { PushID(naming: session) }

    /// What kind of name `callerNumber` is, in the words of CallKit's `CXHandle.HandleType`.
    package var handleType: String {
        let digits = callerNumber.hasPrefix("+") ? callerNumber.dropFirst() : callerNumber[...]
        if (3...15).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) {
            return "phoneNumber"
        }
        return callerNumber.contains("@") ? "emailAddress" : "generic"
    }
}
