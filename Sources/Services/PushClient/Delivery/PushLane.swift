internal import HTTPClient
internal import Push

/// The pushes to one service: an environment of Apple's, Firebase, or the host of a webhook. No lane waits for another.
/// The loop owns it.
final class PushLane {
    /// Which service.
    enum Key: Hashable {
        case apple(isProduction: Bool)
        case google
        case webhook(origin: String)

        var provider: PushProvider {
            switch self {
            case .apple: .apple
            case .google: .google
            case .webhook: .webhook
            }
        }
    }

    /// The number of the lane; no other lane ever has it.
    let number: UInt64
    let key: Key
    /// What is sent when.
    var queue: PushQueue
    /// What the pushes of the queue say.
    var jobs: [UInt64: PushJob] = [:]
    /// The header field `authorization`; `nil`: there is none yet, or none is needed.
    var authorization: HTTPField?
    /// The project with Firebase that the credential is good for; `nil`: there is none yet, or none is needed.
    var project: String?
    /// The state of the file with the key when the credential was made from it. Lanes can have a file in common.
    var keyStamp: SecretFile.Stamp?

    init(_ number: UInt64, _ key: Key, _ queue: PushQueue) {
        self.number = number
        self.key = key
        self.queue = queue
    }
}
