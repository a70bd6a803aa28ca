package import CallControl
import CallRuntime
package import Observability

/// Counts what the call runtime reports.
struct MetricsObserver: RuntimeObserver {
    let metrics: GatewayMetrics

    func callMeasured(_ measure: CallMeasure) {
        switch measure {
        case .started: metrics.callsActive.increment()
        case .answered(let setup): metrics.callSetup.observe(setup)
        case .ended(let record):
            metrics.callsActive.decrement()
            metrics.callsEnded[CallOutcome(record.cause)].increment()
        }
    }

    func callRequested(_ request: CallRequest.Kind, _ outcome: CallRequest.Outcome) {
        metrics.callRequests[request, outcome].increment()
    }

    func callRefused(_ reason: CallRefusal) { metrics.callsRefused[CallLimit(reason)].increment() }

    func subscriptionsChanged(by difference: Int) { metrics.subscriptionsActive.increment(by: Int64(difference)) }

    func notificationSent() { metrics.notificationsSent.increment() }

    func notificationReplayed() { metrics.notificationsReplayed.increment() }

    func notificationsDiscarded(_ count: Int) { metrics.notificationsDiscarded.increment(by: UInt64(count)) }
}

extension CallLimit {
    init(_ reason: CallRefusal) {
        self =
            switch reason {
            case .userCalls: .userCalls
            case .userRate: .userRate
            case .calleeCalls: .calleeCalls
            case .calleeRinging: .calleeRinging
            case .gatewayCalls: .gatewayCalls
            }
    }
}

extension CallOutcome {
    /// The outcome that has the word of the cause.
    package init(_ cause: CallEndCause) {
        self =
            switch cause.word {
            case .normalClearing: .normalClearing
            case .originatorCancel: .originatorCancel
            case .callRejected: .callRejected
            case .userBusy: .userBusy
            case .noAnswer: .noAnswer
            case .subscriberAbsent: .subscriberAbsent
            case .unallocatedNumber: .unallocatedNumber
            case .mediaTimeout: .mediaTimeout
            case .incompatibleDestination: .incompatibleDestination
            case .subscriptionEnded: .subscriptionEnded
            case .clientLost: .clientLost
            case .joinFailed: .joinFailed
            case .normalTemporaryFailure: .gatewayStopping
            }
    }
}
