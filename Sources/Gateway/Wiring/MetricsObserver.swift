import CallControl
import CallRuntime
import Observability

/// Counts what the call runtime reports.
struct MetricsObserver: RuntimeObserver {
    let metrics: GatewayMetrics

    func callMeasured(_ measure: CallMeasure) {
        switch measure {
        case .started: metrics.callsActive.increment()
        case .answered(let setup): metrics.callSetup.observe(setup)
        case .ended(let record):
            metrics.callsActive.decrement()
            metrics.callsEnded[record.cause.word].increment()
        case .woken(let count): metrics.deviceWakes[.woken].increment(by: UInt64(count))
        case .awoke: metrics.deviceWakes[.back].increment()
        case .notWoken: metrics.deviceWakes[.failed].increment()
        case .missed(let count): metrics.deviceWakes[.missed].increment(by: UInt64(count))
        }
    }

    func callRequested(_ request: CallRequest.Kind, _ outcome: CallRequest.Outcome) {
        metrics.callRequests[request, outcome].increment()
    }

    func callRefused(_ reason: CallRefusal) { metrics.callsRefused[reason].increment() }

    func wakeRefused(_ reason: WakeRefusal) { metrics.wakesRefused[reason].increment() }

    func subscriptionsChanged(by difference: Int) { metrics.subscriptionsActive.increment(by: Int64(difference)) }

    func notificationSent() { metrics.notificationsSent.increment() }

    func notificationReplayed() { metrics.notificationsReplayed.increment() }

    func notificationsDiscarded(_ count: Int) { metrics.notificationsDiscarded.increment(by: UInt64(count)) }
}
