import CallControl
import CallSupport
import SPiDR

/// What applications do in place of devices, and what they are told.
extension DeviceExplorer {
    static func endpoint(_ isApplication: Bool, _ devices: [Device]) -> LegEndpoint {
        isApplication ? .application(.silence) : .devices(devices)
    }

    /// Those that hear somebody.
    var routed: Set<LegID> { Set(routes.filter { $0.value != .silence }.keys) }

    /// What an application may ask for, by what it believes.
    func applicationSteps(of device: SubscriptionID, _ client: Client) -> [Step] {
        let requests: [Request]
        switch client.state {
        case .dialing, .sessionProgress, .inCall: requests = [.end]
        case .ringing where leg(of: device) == .caller: requests = [.end]
        case .ringing:
            requests = [.progress, .answer, .reject, .refuse, .end] + (mayForward(device) ? [.forward] : [])
        case .initial, .answering, .onHold, .remotelyHeld, .onDoubleHold, .ended: requests = []
        }
        let isRung = client.state == .ringing && leg(of: device) != .caller
        return requests.map { .request(device, $0, .arrives) } + (isRung ? [.ringing(device)] : [])
    }

    /// An application hears what its leg is told at once, and is told nothing more when that is over for it.
    mutating func tellApplication(of leg: LegID, _ event: CallEvent) {
        guard let device = Self.devices.first(where: { $0.leg == leg })?.id, var client = clients[device] else {
            return
        }
        if event.fact.hasDescription { fault = "something is described to the \(leg), which is headless" }
        if client.state == .ended, event.audience != nil { fault = "the headless \(leg) is told more than its end" }
        switch (event.fact, client.state) {
        case (.invited, .initial): client.state = .ringing
        case (.progressed, .dialing): client.state = .sessionProgress
        case (.alerted, .dialing), (.alerted, .sessionProgress): client.state = .ringing
        case (.talks, _): client.state = .inCall
        case (.released, _), (.stoppedRinging(.forwarded, _), _):
            client.state = .ended
            client.ends += 1
        default: break
        }
        if client.ends > 1 { fault = "the headless \(leg) was told twice that it is over" }
        clients[device] = client
    }

    /// Whether the caller and an application that rings hear each other.
    var isHeardEarly: Bool {
        guard let ringing = call.legs.first(where: { $0.stage == .ringing })?.id, applications.contains(ringing) else {
            return false
        }
        return routes == [.caller: .leg(ringing), ringing: .leg(.caller)] && connected.isSuperset(of: routed)
    }

    /// An application knows at any time what its leg is in. To one that has answered it makes no difference that the
    /// caller has yet to answer its offer.
    func checkApplications() throws {
        if let fault { throw ExplorationFault(fault, path) }
        guard call.state != .initial else { return }
        for (device, leg) in Self.devices where applications.contains(leg) {
            guard let client = clients[device], !client.isGone, client.state != .initial else { continue }
            let seen = call.legState(leg)
            guard seen == client.state || (seen == .answering && client.state == .inCall) else {
                throw ExplorationFault("the headless \(leg) believes \(client.state), and the call is \(seen)", path)
            }
        }
    }
}
