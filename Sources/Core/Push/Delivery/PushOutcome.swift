/// What a provider's answer means for a push.
package enum PushVerdict: Hashable, Sendable {
    /// The provider has taken the push; the name is the provider's.
    case delivered(name: String?)
    /// The provider cannot use the token, now or later. The time is since when, in milliseconds since 1970: a
    /// registration that is newer is not meant.
    case registrationDead(reason: String, since: UInt64?)
    /// The gateway's credential is too old. With a new one the push is sent again, once.
    case credentialExpired(reason: String)
    /// The push may be sent again, not before the delay.
    case retry(reason: String, after: Duration?)
    /// The provider refuses the push, and would do so again.
    case refused(status: Int, reason: String)

    /// A provider's word for logs and people: so many printable characters of it at most; `nil`: there is none.
    package static func printable(_ word: String?, limit: Int = 64) -> String? {
        guard let word, !word.isEmpty else { return nil }
        return String(decoding: word.utf8.prefix(limit).map { (0x20...0x7E).contains($0) ? $0 : 0x3F }, as: UTF8.self)
    }

    /// The push was taken, under a provider's name for it, which is a path with Google.
    static func delivered(as name: String?) -> PushVerdict { .delivered(name: printable(name, limit: 256)) }
}

/// What has become of a push.
package enum PushOutcome: Hashable, Sendable, CustomStringConvertible {
    /// The provider has taken it; the name is the provider's.
    case delivered(name: String?)
    /// The device cannot be reached any more: its registration is to be removed, unless it is newer than `since`, in
    /// milliseconds since 1970.
    case registrationDead(reason: String, since: UInt64?)
    /// It was given up.
    case givenUp(PushFailure)

    /// The outcome in plain words.
    package var description: String {
        switch self {
        case .delivered(let name): "the provider has taken the push" + (name.map { " as \($0)" } ?? "")
        case .registrationDead(let reason, _): "the device cannot be reached any more: the provider says \(reason)"
        case .givenUp(let failure): "the push was given up: \(failure)"
        }
    }
}

extension PushOutcome {
    /// Whether the push may have reached the device. It may have, too, if the answer to an attempt is not known.
    package var mayHaveArrived: Bool {
        switch self {
        case .delivered, .givenUp(.shutDown): true
        case .registrationDead: false
        case .givenUp(let failure): failure.last != nil
        }
    }

    /// Whether it is certain that the device will not be woken by the push, although it was wanted to the end.
    package var hasFailed: Bool {
        switch self {
        case .delivered, .givenUp(.expired), .givenUp(.withdrawn), .givenUp(.shutDown): false
        case .registrationDead: true
        case .givenUp(let failure): failure.last == nil
        }
    }
}

/// Why a push was given up.
package enum PushFailure: Error, Hashable, Sendable, CustomStringConvertible {
    /// Its time was over before a provider took it; the text is why not earlier, if it was sent at all.
    case expired(last: String?)
    /// Nobody wants it any more; the text is why not earlier, if it was sent at all.
    case withdrawn(last: String?)
    /// The provider refuses it; the text is why an earlier attempt was not the last, if there was one.
    case refused(status: Int, reason: String, last: String? = nil)
    /// The smallest form of it has more bytes than the provider takes.
    case tooLarge(bytes: Int, limit: Int)
    /// The device has registered no token of this kind, to which it would go.
    case noToken(PushRegistration.AppleTokens.Kind)
    /// The gateway has no credential that the provider takes; `last` as with `refused`.
    case credential(reason: String, last: String? = nil)
    /// The provider cannot be asked at all; `last` as with `refused`.
    case unreachable(reason: String, last: String? = nil)
    /// As many pushes wait as may wait; `last` as with `refused`.
    case overloaded(last: String?)
    /// The operator has not set the provider up for this app.
    case notConfigured
    /// The user has no such registration any more: the device was given to another user, or has left.
    case unregistered
    /// The gateway stops.
    case shutDown

    /// Why an earlier attempt has failed, although it may have reached the device; `nil`: there was none such.
    package var last: String? {
        switch self {
        case .expired(let last), .withdrawn(let last), .refused(_, _, let last), .credential(_, let last),
            .unreachable(_, let last), .overloaded(let last):
            last
        case .tooLarge, .noToken, .notConfigured, .unregistered, .shutDown: nil
        }
    }

    /// The same failure, of a push of which an earlier attempt may have reached the device.
    ///
    /// - Parameter last: why that attempt has failed; `nil`: there was none such.
    func after(_ last: String?) -> PushFailure {
        switch self {
        case .refused(let status, let reason, _): .refused(status: status, reason: reason, last: last)
        case .credential(let reason, _): .credential(reason: reason, last: last)
        case .unreachable(let reason, _): .unreachable(reason: reason, last: last)
        case .overloaded: .overloaded(last: last)
        case .expired, .withdrawn, .tooLarge, .noToken, .notConfigured, .unregistered, .shutDown: self
        }
    }

    /// The reason in plain words.
    package var description: String { words + (last.map { "; before, \($0)" } ?? "") }

    private var words: String {
        switch self {
        case .expired(nil): "its time was over before it could be sent"
        case .expired: "its time was over"
        case .withdrawn(nil): "it was not wanted any more before it could be sent"
        case .withdrawn: "it is not wanted any more"
        case .refused(let status, let reason, _): "the provider refuses it with status \(status): \(reason)"
        case .tooLarge(let bytes, let limit): "it has \(bytes) bytes, and the provider takes \(limit)"
        case .noToken(.voip): "the device has registered no token for VoIP pushes"
        case .noToken(.standard): "the device has registered no token for pushes other than VoIP"
        case .credential(let reason, _): "the provider does not take the gateway's credential: \(reason)"
        case .unreachable(let reason, _): "the provider cannot be asked: \(reason)"
        case .overloaded: "too many pushes wait"
        case .notConfigured: "push to this provider is not configured for this app"
        case .unregistered: "the user's device is not registered any more"
        case .shutDown: "the gateway stops"
        }
    }
}
