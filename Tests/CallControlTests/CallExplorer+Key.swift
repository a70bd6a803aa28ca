import CallControl
import SDP
import TestSupport

extension CallExplorer {
    var isQuiet: Bool {
        world.messages.isEmpty
            && clients.values.allSatisfy { $0.offered == nil && $0.holdingBefore == nil && $0.mail.isEmpty }
            && world.calls.values.allSatisfy { call in
                switch call.state {
                case .answered(let answered): answered.operation == nil && call.legs.allSatisfy { $0.newsDue == nil }
                case .joining: false
                case .initial, .unanswered, .ended: true
                }
            }
    }

    /// Everything that tells states apart.
    var key: String {
        var parts: [String] = []
        for (id, call) in world.calls.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
            let legs = call.legs.map { leg in
                let stage =
                    switch leg.stage {
                    case .waiting: "waiting"
                    case .ringing: "ringing"
                    case .talking: "talking"
                    case .completed: "completed"
                    }
                return
                    "\(leg.id.number)\(leg.party.session)\(stage)\(leg.holds ? "h" : "")\(leg.exchange(at: world.clock.now))"
            }
            let state =
                switch call.state {
                case .initial: "initial"
                case .unanswered: "unanswered"
                case .joining(let joining): "joining \(joining.received.count)"
                case .answered(let answered): answered.operation?.word ?? "answered"
                case .ended: "ended"
                }
            parts.append("\(id):\(state):\(legs.joined(separator: ","))")
        }
        parts += world.messages.map { "\($0.to)\($0.content.word)" }
        parts += clients.sorted { $0.key.rawValue < $1.key.rawValue }.map { session, client in
            let flags = [client.isHolding, client.isHeld, client.isAstray, client.isCatchingUp].map { $0 ? "1" : "0" }
                .joined()
            let own = client.holdingBefore.map { $0 ? "h" : "r" } ?? "-"
            return
                "\(session.rawValue)\(flags)\(own)\(client.offered?.rawValue ?? "-")\(client.farewells)\(client.lateness)\(client.putAside)"
                + client.mail.map(\.word).joined()
        }
        if let requests { parts.append("\(requests)") }
        return parts.joined(separator: "|")
    }
}
