import CallControl
import CallSupport
import SPiDR

/// What clients and the media plane are told, and how clients learn it.
extension DeviceExplorer {
    /// The client's own conclusion from the answer to its request.
    mutating func learn(_ device: SubscriptionID, _ request: Request, of isAccepted: Bool, isKnown: Bool) {
        // An application goes by what it is told, except that it knows what it has begun.
        guard isKnown, request == .start || !applications.contains(leg(of: device)) else { return }
        switch request {
        case .start: clients[device]?.state = .dialing
        case .answer where isAccepted && !hasOffer && clients[device]?.hasAnswer == false:
            clients[device]?.state = .answering
        case .answer where isAccepted, .respond where isAccepted: talk(device)
        case .answer, .respond, .reject, .forward, .end, .refuse: clients[device]?.state = .ended
        case .progress: break
        }
    }

    private mutating func talk(_ device: SubscriptionID) {
        clients[device]?.state = .inCall
        if device != Self.onlooker { _ = call.mediaAdvanced(leg(of: device), to: .secured) }
    }

    mutating func note(_ actions: [CallAction]) {
        for action in actions {
            guard case .event(let event) = action else {
                noteMedia(action)
                continue
            }
            noteWaking(event.fact)
            if let leg = event.leg, applications.contains(leg) { tellApplication(of: leg, event) }
        }
        for told in actions.told {
            for receiver in told.receivers where clients[receiver]?.isGone == false {
                clients[receiver]?.mail.append(told.notification.type)
            }
        }
    }

    private mutating func noteWaking(_ fact: CallEvent.Fact) {
        switch fact {
        case .waking(let devices, _): sleepers.woken.formUnion(devices)
        case .awoke(let device, _): sleepers.back.insert(device)
        case .notWoken(let device): sleepers.failed.insert(device)
        case .wakingOver(let devices, _, _):
            // Told twice, it would be awaited no more, and the check would not see it.
            if !sleepers.over.isDisjoint(with: devices) { toldTwice = true }
            sleepers.over.formUnion(devices)
            for device in devices { clients[SubscriptionID(device.rawValue)]?.state = .ended }
        default: break
        }
    }

    private mutating func noteMedia(_ action: CallAction) {
        switch action {
        case .route(let leg, let route): routes[leg] = route
        case .connectMedia(let leg, _): connected.insert(leg)
        case .prepareHeadless(let leg, _):
            if !connected.insert(leg).inserted { fault = "the headless \(leg) is made twice" }
        case .releaseLeg(let leg):
            routes[leg] = nil
            connected.remove(leg)
        case .releaseMedia:
            (routes, connected) = ([:], [])
            releases += 1
        default: break
        }
    }

    mutating func hear(_ device: SubscriptionID) throws {
        guard var client = clients[device], !client.mail.isEmpty else { return }
        let type = client.mail.removeFirst()
        switch (type, client.state) {
        case (.call, .initial): client.state = .ringing
        case (.sessionProgress, .dialing): client.state = .sessionProgress
        case (.ringing, .dialing), (.ringing, .sessionProgress): client.state = .ringing
        // The first news that the call was answered.
        case (.startCallUpdate, .dialing), (.startCallUpdate, .ringing):
            (client.state, client.isOffered) = (.ringing, true)
        // Whether it was its own offer that is answered a client knows when its request is.
        case (.respondCallUpdate, .ringing) where client.unsure == .answer: client.hasAnswer = true
        case (.respondCallUpdate, .dialing), (.respondCallUpdate, .sessionProgress), (.respondCallUpdate, .ringing),
            (.respondCallUpdate, .answering):
            clients[device] = client
            talk(device)
            return
        // Who has asked to answer takes it for the news of the own answer (spidr-wire §6.6).
        case (.callCancel, .ringing) where client.unsure != .answer: (client.state, client.unsure) = (.ended, nil)
        case (.callEnd, _):
            client.state = .ended
            client.unsure = nil
            client.ends += 1
        default: break
        }
        if client.ends > 1 { throw ExplorationFault("\(device) was told twice that it is over", path) }
        clients[device] = client
    }
}
