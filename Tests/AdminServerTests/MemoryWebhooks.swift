import CallControl
import CallRuntime
import EventAPI
import Primitives
import Synchronization

/// Webhooks that are only remembered; nothing is sent.
final class MemoryWebhooks: Webhooks {
    private let kept = Mutex<[Webhook]>([])

    func webhooks(of application: ApplicationIdentity) async throws(WebhookError) -> [(Webhook, WebhookProgress)] {
        let found = kept.withLock { $0.filter { $0.application == application } }
        return found.map { ($0, WebhookProgress(waiting: 2, parked: 1, reason: "status 500")) }
    }

    func add(
        url: String, types: [String], to application: ApplicationIdentity
    ) async throws(WebhookError) -> Webhook {
        guard url.hasPrefix("https://") else { throw .unusableURL("it must be an https: URL") }
        if let type = types.first(where: { !$0.contains(".") }) { throw .unusableTypes(.unusableType(type)) }
        let count = kept.withLock { $0.count }
        guard count < 2 else { throw .tooMany(2) }
        let webhook = Webhook(
            id: "w\(count)", application: application, url: url, keys: Redacted(["whsec_1"]), types: types)
        kept.withLock { $0.append(webhook) }
        return webhook
    }

    func change(
        _ id: String, of application: ApplicationIdentity, url: String?, types: [String]?, isEnabled: Bool?
    ) async throws(WebhookError) -> Webhook {
        try edit(id, application) { webhook in
            webhook.url = url ?? webhook.url
            webhook.types = types ?? webhook.types
            webhook.isEnabled = isEnabled ?? webhook.isEnabled
        }
    }

    func rotateKey(_ id: String, of application: ApplicationIdentity) async throws(WebhookError) -> Webhook {
        try edit(id, application) { $0.keys = Redacted(["whsec_2"] + $0.keys.value.prefix(1)) }
    }

    func remove(_ id: String, of application: ApplicationIdentity) async throws(WebhookError) -> Webhook {
        let webhook = try edit(id, application) { _ in }
        kept.withLock { $0.removeAll { $0.id == id } }
        return webhook
    }

    func retry(_ id: String, of application: ApplicationIdentity) async throws(WebhookError) -> Int {
        _ = try edit(id, application) { _ in }
        return 1
    }

    func test(
        _ id: String, of application: ApplicationIdentity
    ) async throws(WebhookError) -> (isDelivered: Bool, detail: String) {
        _ = try edit(id, application) { _ in }
        return (false, "status 500")
    }

    private func edit(
        _ id: String, _ application: ApplicationIdentity, _ body: (inout Webhook) -> Void
    ) throws(WebhookError) -> Webhook {
        let changed: Webhook? = kept.withLock { webhooks in
            guard let index = webhooks.firstIndex(where: { $0.id == id && $0.application == application }) else {
                return nil
            }
            body(&webhooks[index])
            return webhooks[index]
        }
        guard let changed else { throw .noSuchWebhook }
        return changed
    }
}
