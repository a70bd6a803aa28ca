package import CallControl
package import EventAPI
package import Primitives

/// A URL that an application is sent events at.
package struct Webhook: Equatable, Sendable {
    /// Its name, which the gateway has given.
    package var id: String
    /// Whose it is. It is sent the events that the application may see.
    package var application: ApplicationIdentity
    /// Where the events are sent.
    package var url: String
    /// The keys that sign them, `whsec_…`; the newest first, and the one before.
    package var keys: Redacted<[String]>
    /// The types that are sent, as in ``EventSelection``; empty: all.
    package var types: [String]
    /// Whether events are sent.
    package var isEnabled: Bool
    /// Why the gateway has disabled it, in words; `nil`: it has not.
    package var disabledBecause: String?

    /// Makes a webhook of its parts; each parameter is the property of that name.
    package init(
        id: String, application: ApplicationIdentity, url: String, keys: Redacted<[String]>, types: [String] = [],
        isEnabled: Bool = true, disabledBecause: String? = nil
    ) {
        self.id = id
        self.application = application
        self.url = url
        self.keys = keys
        self.types = types
        self.isEnabled = isEnabled
        self.disabledBecause = disabledBecause
    }

    /// Whether all is the same, the keys included.
    package static func == (a: Webhook, b: Webhook) -> Bool {
        (a.id, a.application, a.url, a.keys.value) == (b.id, b.application, b.url, b.keys.value)
            && (a.types, a.isEnabled, a.disabledBecause) == (b.types, b.isEnabled, b.disabledBecause)
    }
}

/// How far a webhook is.
package struct WebhookProgress: Equatable, Sendable {
    /// How many events wait to be delivered.
    package var waiting: Int
    /// How many were given up.
    package var parked: Int
    /// Why the last attempt failed of an event that waits or was given up, in words; `nil`: none has failed.
    package var reason: String?

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(waiting: Int = 0, parked: Int = 0, reason: String? = nil) {
        self.waiting = waiting
        self.parked = parked
        self.reason = reason
    }
}

/// Why a webhook cannot be had.
package enum WebhookError: Error, Equatable, Sendable {
    /// The application has no such webhook.
    case noSuchWebhook
    /// The application has as many as it may have.
    case tooMany(Int)
    /// The URL cannot be used; a sentence says why.
    case unusableURL(String)
    /// The types cannot be used.
    case unusableTypes(EventSelection.Fault)
    /// The database refuses.
    case storage(StorageError)
}

/// What an operator can do with the webhooks of applications.
package protocol Webhooks: Sendable {
    /// The webhooks of an application, in the order of their names, and how far each is.
    func webhooks(of application: ApplicationIdentity) async throws(WebhookError) -> [(Webhook, WebhookProgress)]
    /// Adds a webhook with a key of its own. It is sent what happens from now on.
    func add(url: String, types: [String], to application: ApplicationIdentity) async throws(WebhookError) -> Webhook
    /// Changes a webhook; `nil`: as it was.
    func change(
        _ id: String, of application: ApplicationIdentity, url: String?, types: [String]?, isEnabled: Bool?
    ) async throws(WebhookError) -> Webhook
    /// Gives a webhook a new key. The one before signs as well, until there is another new one.
    func rotateKey(_ id: String, of application: ApplicationIdentity) async throws(WebhookError) -> Webhook
    /// Removes a webhook and what it is owed.
    func remove(_ id: String, of application: ApplicationIdentity) async throws(WebhookError) -> Webhook
    /// Tries again what was given up.
    ///
    /// - Returns: how many events that is.
    func retry(_ id: String, of application: ApplicationIdentity) async throws(WebhookError) -> Int
    /// Sends an event of the type `webhook.test`, and waits for the answer.
    ///
    /// - Returns: whether it was taken, and what has happened, in words.
    func test(
        _ id: String, of application: ApplicationIdentity
    ) async throws(WebhookError) -> (isDelivered: Bool, detail: String)
}

/// What becomes of the answers of webhooks that are told of a call to their application. Implemented by
/// `ApplicationServer`.
package protocol WebhookAnswers: Sendable {
    /// Whether a call is the application's, and not forgotten. It may have heard of the invitation of another one.
    func hasCall(_ id: SessionID, of application: ApplicationIdentity) async -> Bool

    /// Carries out the command in an answer, if it has one: with the scopes of the application, within its time to
    /// decide, and if nobody has decided before.
    ///
    /// - Parameters:
    ///   - answer: the JSON object that the receiver has sent.
    ///   - id: the application's call that the receiver was told of.
    /// - Returns: whether there was a command.
    /// - Throws: why the command is not carried out; then nothing has changed.
    func decide(
        by answer: [UInt8], in id: SessionID, of application: ApplicationIdentity
    ) async throws(WebhookAnswerRefusal) -> Bool
}

/// Why the command in the answer of a webhook is not carried out.
package struct WebhookAnswerRefusal: Error, Equatable, Sendable {
    /// The code that a request with the command would have been refused with (docs/errors.md).
    package var code: String
    /// A sentence for people.
    package var reason: String

    /// Makes a refusal of its parts; each parameter is the property of that name.
    package init(code: String, reason: String) {
        self.code = code
        self.reason = reason
    }
}

/// The webhooks of all applications, and what they are owed. Implemented by `Storage`. Every function throws
/// `StorageError.failed` if the database refuses.
package protocol WebhookRepository: Sendable {
    /// All webhooks.
    func allWebhooks() async throws(StorageError) -> [Webhook]
    /// Writes a webhook that is new, or was changed.
    ///
    /// - Throws: `noSuchApplication`.
    func put(_ webhook: Webhook) async throws(StorageError)
    /// Removes a webhook.
    func remove(_ id: String) async throws(StorageError)
    /// What a webhook is owed, and up to which place of the log that is known; `nil`: nothing is known of it.
    func outbox(of id: String) async throws(StorageError) -> (deliveries: [WebhookQueue.Delivery], place: Int64)?
    /// Notes what a webhook is owed, up to a place of the log.
    func take(_ deliveries: [WebhookQueue.Delivery], through place: Int64, for id: String) async throws(StorageError)
    /// Notes what attempts have led to.
    func settle(_ verdicts: [Int64: WebhookQueue.Verdict], of id: String) async throws(StorageError)
    /// Takes back what was given up.
    ///
    /// - Returns: what is owed again, in order.
    func unpark(_ id: String) async throws(StorageError) -> [WebhookQueue.Delivery]
    /// How far each webhook is; those that are owed nothing are left out.
    func progress() async throws(StorageError) -> [String: WebhookProgress]
    /// Removes what belongs to webhooks that are none of these.
    func removeAll(but ids: Set<String>) async throws(StorageError)
}
