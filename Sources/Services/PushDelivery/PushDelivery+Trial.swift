package import CallControl
package import CallRuntime
package import Push
import Primitives

extension PushDelivery: PushTrial {
    /// Sends a push to a device, and returns what has become of it; see `PushTrial`. It is not owed, so that
    /// nothing of it outlives the process. A registration that is dead is removed.
    package func tryOut(_ device: PushDeviceID, with kind: PushTrialKind) async -> PushOutcome? {
        guard let registration = await directory.registration(device) else { return nil }
        let now = UInt64(clamping: clock.epochMilliseconds)
        let session = "test-\(device.rawValue)-\(now)"
        let call = PushedCall(
            session: session, callerName: "Orbweaver", callerNumber: "test@orbweaver.invalid", hasVideo: false)
        let pushed: PushMessage.Kind =
            switch kind {
            case .call: .call(call)
            case .cancel: .callOver(call, .remoteEnded)
            case .notification: .notification(.init(title: "Orbweaver", body: "This is a test."))
            case .refresh: .refresh
            }
        let message = PushMessage(
            id: PushID(naming: "\(session)-\(kind.rawValue)"), pushed, forms: [], time: now,
            expires: now + Self.trialTime)
        let (outcome, sent) = await withCheckedContinuation { continuation in
            sender.send(message, to: registration) { continuation.resume(returning: ($0, $1)) }
        }
        if case .registrationDead(let reason, let since) = outcome {
            noteDead(sent, because: reason, since: since)
        }
        return outcome
    }

    /// How long a trial may take, in milliseconds.
    private static let trialTime: UInt64 = 20_000
}
