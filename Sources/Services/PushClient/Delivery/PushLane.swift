internal import HTTPClient
internal import Push

/// The pushes to one service with one account: an environment of Apple's, Firebase, or the host of a webhook. No lane
/// waits for another. The loop owns it.
final class PushLane {
    /// Which service, and which account.
    enum Key: Hashable {
        case apple(PushConfiguration.Apple, isProduction: Bool)
        case google(PushConfiguration.Google)
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
    /// What sends the requests of this lane alone; `nil`: the client that lanes have in common.
    let client: HTTPClient?
    /// The account with Apple, if it is one of Apple's lanes.
    var apple: AppleProvider?
    /// The project with Firebase, if it is a lane to it.
    var google: GoogleProvider?
    /// What is sent when.
    var queue: PushQueue
    /// What the pushes of the queue say.
    var jobs: [UInt64: PushJob] = [:]
    /// The header field `authorization`; `nil`: there is none yet, or none is needed.
    var authorization: HTTPField?
    /// The project with Firebase that the credential is good for; `nil`: there is none yet, or none is needed.
    var project: String?

    init(_ number: UInt64, _ key: Key, _ queue: PushQueue, client: HTTPClient?) {
        self.number = number
        self.key = key
        self.queue = queue
        self.client = client
        switch key {
        case .apple(let account, _): apple = AppleProvider(account)
        case .google(let project): google = GoogleProvider(project)
        case .webhook: break
        }
    }

    /// Whether the file with the key is another one than the one that the latest credential was to be made of.
    var hasNewKey: Bool {
        guard let file = apple?.file ?? google?.file else { return false }
        return file.hasChanged(since: file.stamp)
    }
}
