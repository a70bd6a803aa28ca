package import Primitives

/// The signs of life of a leg's clients (spidr-wire §6.9): requests, audits, and whether a notification channel is
/// open.
///
/// The clients of a leg are suspected to be gone if they make no request, not even an audit, and either none of their
/// channels is open, or they have audited the call before.
package struct Liveness: Equatable, Sendable {
    /// When a client last made a request; `nil`: none since the leg joined the call.
    private var lastRequest: MonotonicTime?
    /// How often a client audits the call; `nil`: no client ever has.
    private var audits: AuditFrequency?
    /// Since when no client has an open channel; `nil`: one has.
    private var unreachableSince: MonotonicTime?

    /// Makes a value for clients that have an open channel, and have made no request.
    package init() {}

    /// A client has made a request, successful or not.
    package mutating func heard(at now: MonotonicTime) { lastRequest = now }

    /// A client has audited the call.
    package mutating func audited(at now: MonotonicTime) {
        audits = audits?.followed(at: now) ?? AuditFrequency(last: now)
    }

    /// A channel is open from now on, or none is any more.
    package mutating func channelsChanged(areOpen: Bool, at now: MonotonicTime) {
        unreachableSince = areOpen ? nil : now
    }

    /// The audits so far were those of another device.
    package mutating func forgetAudits() { audits = nil }

    /// The clients were given up; they are not suspected again for the same reason.
    package mutating func giveUp() { (unreachableSince, audits) = (nil, nil) }

    /// When the clients are given up; `nil`: they are not suspected.
    ///
    /// - Parameter patience: how long they may go without a request.
    package func deadline(patience: Duration) -> MonotonicTime? {
        let unreachable = unreachableSince.map { max($0, lastRequest ?? $0) + patience }
        // The channel may be open all the same: a page that has lost the call keeps it open.
        let silent = audits.flatMap { audits in
            audits.interval.map { max(audits.last, lastRequest ?? audits.last) + max(patience, $0 * 2) }
        }
        guard let unreachable, let silent else { return unreachable ?? silent }
        return min(unreachable, silent)
    }
}

/// How often a client audits its call. One audit does not tell: a client may ask once, and never again.
private struct AuditFrequency: Equatable, Sendable {
    /// When the last audit came.
    var last: MonotonicTime
    /// The longest time between two successive audits; `nil` after the first.
    var interval: Duration?

    /// The frequency with one more audit.
    func followed(at now: MonotonicTime) -> AuditFrequency {
        AuditFrequency(last: now, interval: max(interval ?? .zero, now - last))
    }
}
