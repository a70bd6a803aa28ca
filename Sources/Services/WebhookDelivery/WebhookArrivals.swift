import EventAPI
import Sockets

/// Answers that have come together, by the worker that they are for.
///
/// The thread of the requests notes each answer. Behind the last one it hands them out: a worker decides, sends and
/// writes once for all of its own.
final class WebhookArrivals: Sendable {
    /// What has become of an attempt to send a delivery.
    struct Arrival: Sendable {
        let delivery: WebhookQueue.Delivery
        let answer: WebhookAnswer
    }

    private struct Noted: Sendable {
        let worker: WebhookWorker
        var arrivals: [Arrival] = []
    }

    private let noted = Lock<[ObjectIdentifier: Noted]>([:])

    /// An answer has come, or the reason why there is none.
    func note(_ arrival: Arrival, for worker: WebhookWorker) {
        noted.withLock { $0[ObjectIdentifier(worker), default: Noted(worker: worker)].arrivals.append(arrival) }
    }

    /// Tells each worker what has come for it. None waits for another one.
    func handOut() {
        let all = noted.withLock { noted in
            let taken = noted
            noted = [:]
            return taken
        }
        for each in all.values { Task { await each.worker.ended(each.arrivals) } }
    }
}
