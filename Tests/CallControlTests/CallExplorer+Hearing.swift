import CallControl
import CallSupport
import SPiDR

/// How clients learn what they are told.
extension CallExplorer {
    /// What was told goes to the clients, which hear it at once or later. A client that is to make an offer hears the
    /// rest when it has made it, or is out of the call. What became of the call that it rings for a device always hears
    /// later: until then its user may answer.
    mutating func spread() throws {
        for told in world.takeNews() {
            guard let session = told.notification.session, let news = try News(told.notification) else { continue }
            for name in Self.names(of: session, on: told.receivers) {
                if case .called = news { clients[name] = newClient(name) }
                guard let client = clients[name], news != .failed || name == "A3" else { continue }
                // Who has answered takes it for the news of the own answer (spidr-wire §6.6).
                if news == .cancelled, !client.isRinging { continue }
                clients[name]?.mail.append(news)
                guard clients[name]?.isOverOnce == true else {
                    throw ExplorationFault("\(name) was told twice that it is over", path)
                }
            }
        }
        guard !scope.contains(.late) else { return }
        for name in clients.keys {
            while let client = clients[name], client.hearsAtOnce || client.hasMailOfItsEnd {
                try hear(name)
            }
        }
    }

    mutating func hear(_ name: SessionID) throws {
        if let fault = clients[name]?.hear(yields: yields) { throw ExplorationFault("\(name) \(fault)", path) }
    }

    func newClient(_ name: SessionID) -> Client {
        Client(
            dialect: name.rawValue.hasPrefix("A") ? alice : others,
            seesVideo: Self.session(of: name) != Self.dave || daveSeesVideo)
    }
}

extension CallExplorer.Client {
    /// It takes one thing after the other.
    var mayHear: Bool { !mail.isEmpty && !isAnswering }

    /// One offer may follow another; between an offer and the request for one it speaks first.
    fileprivate var hearsAtOnce: Bool {
        invitation == nil && !mail.isEmpty && !isAsked && (offered == nil || mail.first != .asked)
    }

    /// Nobody waits for its answer any more.
    fileprivate var hasMailOfItsEnd: Bool { invitation == nil && (mail.contains(.over) || mail.contains(.failed)) }

    /// It was rung, and has not answered.
    fileprivate var isRinging: Bool {
        invitation != nil || mail.contains { if case .called = $0 { true } else { false } }
    }

    fileprivate var isOverOnce: Bool { farewells + mail.count { $0 == .over } <= 1 }
}
