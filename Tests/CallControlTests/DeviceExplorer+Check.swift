import CallControl
import CallSupport
import Primitives
import SPiDR

// MARK: What always holds

extension DeviceExplorer {
    func check() throws {
        guard accepted.count <= 1 else { throw ExplorationFault("two devices have answered", path) }
        let talking = clients.filter { leg(of: $0.key) != .caller && $0.value.state == .inCall }
        guard talking.count <= 1 else { throw ExplorationFault("two devices are in the call", path) }
        for leg in call.legs
        where leg.party.devices.isEmpty && !leg.party.isApplication && call.legState(leg.id) != .ended {
            if leg.id == .callee, call.legState(.callee) == .ringing, !sleepers.waiting.isEmpty { continue }
            // A device that came too late can take the call over, as any that was not told of it.
            if leg.id == .callee, !sleepers.subscribed.isSubset(of: sleepers.back) { continue }
            throw ExplorationFault("the \(leg.id) has nobody to be told anything", path)
        }
        try checkSleepers()
        try checkMedia()
        try checkApplications()
        guard call.state != .initial, clients.values.allSatisfy({ $0.mail.isEmpty && $0.unsure == nil }) else { return }
        for (device, client) in clients where !client.isGone && !applications.contains(leg(of: device)) {
            try checkBelief(device, client)
        }
    }

    /// Each device that was woken has one outcome, once the call does not ring any more: it is back, or was told by
    /// push.
    private func checkSleepers() throws {
        guard !toldTwice, sleepers.back.isDisjoint(with: sleepers.over) else {
            throw ExplorationFault("a device that was woken was told twice what became of the call", path)
        }
        guard sleepers.failed.isDisjoint(with: sleepers.back.union(sleepers.over)) else {
            throw ExplorationFault("a device that was not woken was awaited", path)
        }
        guard sleepers.woken.isSuperset(of: sleepers.back.union(sleepers.over)) else {
            throw ExplorationFault("a device that slept was told what became of the call", path)
        }
        let rings = call[.callee]?.stage == .ringing && call.legState(.callee) == .ringing
        guard rings ? sleepers.over.isEmpty : sleepers.waiting.isEmpty else {
            throw ExplorationFault("the call \(rings ? "rings" : "does not ring"), and \(sleepers)", path)
        }
    }

    /// Nobody hears anybody before both have said what they are able to do, and then each hears the other; or before
    /// the answer, if an application says so. Media is released once.
    private func checkMedia() throws {
        let isOver = if case .ended = call.state { true } else { false }
        guard releases == (isOver ? 1 : 0) else {
            throw ExplorationFault("media was released \(releases) times", path)
        }
        let talking = call.legs.map(\.id).filter { call.legState($0) == .inCall }
        guard talking.count == 2 else {
            guard routed.isEmpty || isHeardEarly else {
                throw ExplorationFault("somebody hears somebody, and only \(talking.count) are in the call", path)
            }
            return
        }
        guard routed == Set(talking), connected.isSuperset(of: talking) else {
            throw ExplorationFault("the two in the call do not hear each other", path)
        }
    }

    /// Everything has been heard: a device believes what is, or the call ends by itself.
    private func checkBelief(_ device: SubscriptionID, _ client: Client) throws {
        let leg = leg(of: device)
        let isTemporary = call.nextDeadline != nil || isDeserted(leg)
        let seen = call.legState(leg)
        switch client.state {
        case .initial:
            let sleeper = PushDeviceID(device.rawValue)
            guard
                device == "d1" || seen == .ended || sleepers.waiting.contains(sleeper)
                    || sleepers.failed.contains(sleeper)
            else {
                throw ExplorationFault("\(device) was told nothing", path)
            }
        case .dialing, .sessionProgress, .ringing, .answering, .inCall:
            guard seen == client.state else {
                throw ExplorationFault("\(device) believes \(client.state), and the call is \(seen)", path)
            }
        case .ended:
            guard !accepted.contains(device) || client.hasGivenUp || seen == .ended else {
                throw ExplorationFault("\(device) has answered, believes it has not, and the call is \(seen)", path)
            }
            guard device != Self.onlooker || seen == .ended else {
                throw ExplorationFault("\(device) was told that it is over, and the call is \(seen)", path)
            }
            let isElsewhere = clients.contains {
                $0.key != Self.onlooker && $0.key != device && self.leg(of: $0.key) == leg && $0.value.state == seen
            }
            guard seen == .ended || isElsewhere || isTemporary else {
                throw ExplorationFault(
                    "\(device) is done, nobody else is there, and the call is \(seen) for ever", path)
            }
        case .onHold, .remotelyHeld, .onDoubleHold: throw ExplorationFault("\(device) is \(client.state)", path)
        }
    }
}

extension DeviceExplorer {
    var key: String {
        let legs = call.legs.map { leg in
            "\(leg.id.number)\(call.legState(leg.id).word)\(leg.party.devices.map(\.subscription.rawValue).joined())"
        }
        let deadline = call.nextDeadline.map { "\($0.reason)" } ?? "-"
        let believed = Self.devices.map { id, _ in
            guard let client = clients[id] else { return "-" }
            let mail = client.mail.map(\.rawValue).joined(separator: "+")
            let marks = [
                ("gone", client.isGone), ("failed", client.hasGivenUp), ("o", client.isOffered),
                ("a", client.hasAnswer),
            ]
            let marked = marks.map { $1 ? $0 : "" }.joined()
            return "\(id)\(client.state.word)\(client.unsure?.rawValue ?? "")\(marked)\(client.ends)\(mail)"
        }
        let state = if case .ended = call.state { "ended" } else { legs.joined(separator: ",") }
        let asleep = [sleepers.woken, sleepers.back, sleepers.over, sleepers.failed, sleepers.subscribed].map {
            devices in
            devices.map(\.rawValue).sorted().joined()
        }
        // Before the answer only an application is heard.
        let media = applications.isEmpty ? [] : [routed, connected].map { "\($0.sorted())" }
        return ([state, deadline, accepted.map(\.rawValue).joined()] + asleep + believed + media)
            .joined(separator: "|")
    }
}
