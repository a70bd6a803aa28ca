import CallControl
import CallSupport
import Primitives
import Registration
import TestSupport

/// Walks what a subscription goes through while its user's requests, sockets and other subscriptions come and go.
struct RegistrationExplorer: Explorable {
    enum Step: String, Hashable, Sendable, CaseIterable, CustomStringConvertible {
        case subscribe
        /// From the same device, under its correlator.
        case subscribeAgain = "replaced by its correlator"
        case forceLogOut
        case extend
        case unsubscribe
        case open = "a socket opens"
        case close = "its socket is closed"
        case notify = "a notification"
        case start = "a request begins"
        case answer = "the last notification is out"
        case expire = "expires"
        case wait = "5 s without an extension"

        var description: String { rawValue }
    }

    private(set) var rig = RegistrationRig()
    /// What was done so often; nothing is done without end.
    private var counts: [Step: Int] = [:]
    private var expiry: MonotonicTime?
    /// Open ones, and until when they are waited for.
    private var requests: [(number: UInt64, patience: MonotonicTime)] = []
    /// The one that listens.
    private var socket: UInt64?
    private(set) var path: [Step] = []

    /// Of the first subscription; `nil` before and after.
    var phase: SubscriptionPhase? { rig.registration.phase(of: "s1", at: rig.clock.now) }

    /// In the words of the diagram.
    var word: String { phase?.rawValue ?? (counts[.subscribe] == nil ? "none" : "removed") }

    var key: String {
        let done = Step.allCases.map { "\(counts[$0] ?? 0)" }.joined()
        let other = rig.registration.phase(of: "s2", at: rig.clock.now)?.rawValue ?? "-"
        let deadline = rig.registration.nextDeadline.map { "\($0.time - rig.clock.now)" } ?? "-"
        return "\(word) \(other) \(socket != nil) \(rig.registration.hasToldAll) \(requests.count) \(done) \(deadline)"
    }

    var steps: [Step] {
        guard counts[.subscribe] != nil else { return [.subscribe] }
        return Step.allCases.filter { step in
            switch step {
            case .subscribe: false
            case .subscribeAgain, .forceLogOut: counts[.subscribeAgain] == nil && counts[.forceLogOut] == nil
            case .extend, .open, .notify, .start: (counts[step] ?? 0) < 2
            case .unsubscribe: true
            // One thing after the other.
            case .wait: phase != .active || rig.registration.nextDeadline?.reason != .expiry
            case .close: socket != nil
            case .answer: !requests.isEmpty
            case .expire: expiry.map { $0 > rig.clock.now } ?? false
            }
        }
    }

    /// What a step is called in the diagram.
    func cause(of step: Step, _ after: RegistrationExplorer) -> String {
        guard step == .wait || step == .expire else { return step.rawValue }
        if after.phase == .expired { return Step.expire.rawValue }
        // A request has had its time to be answered.
        return (phase == .ending ? Step.answer : .wait).rawValue
    }

    mutating func take(_ step: Step) throws -> Bool {
        path.append(step)
        let before = rig.registration
        do throws(RegistrationError) {
            try carryOut(step)
        } catch {
            guard before == rig.registration else { throw ExplorationFault("a refused step changed something", path) }
            return false
        }
        if step != .unsubscribe, step != .answer, step != .wait { counts[step, default: 0] += 1 }
        return true
    }

    private mutating func carryOut(_ step: Step) throws(RegistrationError) {
        switch step {
        case .subscribe:
            let grant = try rig.subscribe(expires: .seconds(60), correlator: "phone").grant
            expiry = rig.clock.now + grant.expires
        case .subscribeAgain: watch(try rig.subscribe(correlator: "phone").actions)
        case .forceLogOut: watch(try rig.subscribe(forceLogOut: true).actions)
        case .extend: expiry = rig.clock.now + (try rig.extend(1, expires: .seconds(60)).grant.expires)
        case .unsubscribe: watch(try rig.registration.unsubscribe("s1", at: rig.now))
        case .open:
            let next = UInt64(counts[.open] ?? 0) + 1
            watch(try rig.open(1, on: next))
            socket = next
        case .close:
            guard let closed = socket else { throw .noSuchSubscription }
            socket = nil
            watch(rig.close(1, on: closed))
        case .notify: watch(rig.notify([1]))
        case .start: requests.append((rig.registration.requestStarted(at: rig.clock.now), rig.clock.now + .seconds(10)))
        case .answer: watch(rig.registration.requestAnswered(requests.removeFirst().number, at: rig.clock.now))
        case .expire: if let expiry { watch(rig.advance(by: expiry - rig.clock.now)) }
        case .wait:
            guard let deadline = rig.registration.nextDeadline else { throw .noSuchSubscription }
            watch(rig.advance(by: deadline.time - rig.clock.now))
        }
        requests.removeAll { $0.patience <= rig.clock.now }
    }

    private mutating func watch(_ actions: [RegistrationAction]) {
        for case .close(let closed, _) in actions where closed.rawValue == socket { socket = nil }
    }

    func check() throws {
        switch phase {
        case .active?, .expired?:
            guard rig.registration.channelExists(ChannelID("c1")) else {
                throw ExplorationFault("a subscription has no channel", path)
            }
        case .ending?:
            guard !requests.isEmpty else {
                throw ExplorationFault("a subscription has ended, has nothing to say and is still there", path)
            }
        case nil:
            guard socket == nil else { throw ExplorationFault("a subscription is gone, and its socket is open", path) }
        }
    }
}
