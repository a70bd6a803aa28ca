import CallControl
import SDP
import TestSupport

// MARK: What always holds

extension VideoExplorer {
    func check() throws {
        guard let call, world.ended.isEmpty, case .answered(let answered) = call.state else { return }
        if answered.operation != nil, call.nextDeadline == nil {
            throw ExplorationFault("an operation would never end", path)
        }
        guard isQuiet else { return }
        let talking = call.legs.filter(\.isTalkingNow)
        for leg in talking where clients[leg.party.session]?.isAstray != true { try checkAgreement(leg) }
        guard talking.count == 2, let one = clients[talking[0].party.session],
            let other = clients[talking[1].party.session],
            !one.isAstray, !other.isAstray
        else { return }
        try checkPair(talking.map(\.party.session), one, other)
    }

    /// The gateway and the client of an end agree on every m-line, and neither waits for the other.
    private func checkAgreement(_ leg: CallLeg) throws {
        let session = leg.party.session
        guard let client = clients[session], !client.isOver else {
            throw ExplorationFault("\(session) has left, and is in the call", path)
        }
        guard leg.isStable else {
            throw ExplorationFault("an offer is open with \(session), and nobody waits for its answer", path)
        }
        let agreed =
            world.agreements[Self.id]?[leg.id]?.media.map { $0.isRejected ? nil : $0.direction.reversed } ?? [
                .sendReceive
            ]
        guard agreed == client.lines else {
            throw ExplorationFault(
                "\(session) goes by \(Self.words(client.lines)), and the gateway by \(Self.words(agreed))", path)
        }
        guard leg.holds == client.isHolding else {
            throw ExplorationFault(
                "\(session) \(client.isHolding ? "holds" : "does not hold"), and its call says otherwise", path)
        }
    }

    /// What one is told on a line is what the other does there: sends if it films and nobody holds, receives if it wants to (RFC 3264 §6.1).
    private func checkPair(_ sessions: [SessionID], _ one: Client, _ other: Client) throws {
        for line in 0..<max(one.lines.count, other.lines.count) {
            let directions = [one, other].map { line < $0.lines.count ? $0.lines[line] ?? .inactive : .inactive }
            guard directions[0] == directions[1].reversed else {
                throw ExplorationFault(
                    "on m-line \(line) \(sessions[0]) is \(directions[0].rawValue) and \(sessions[1]) is \(directions[1].rawValue)",
                    path)
            }
        }
        guard !one.isHolding, !other.isHolding else { return }
        for (session, client, peer) in [(sessions[0], one, other), (sessions[1], other, one)] {
            guard client.lines.first == .sendReceive else {
                throw ExplorationFault("nobody holds, and \(session) is not in call", path)
            }
            guard client.lines.count > 1, let picture = client.lines[1], peer.lines.count > 1 else { continue }
            guard picture.sends == client.isFilming else {
                throw ExplorationFault(
                    "\(session) \(client.isFilming ? "films and does not send" : "sends and does not film")", path)
            }
        }
    }

    private var isQuiet: Bool {
        guard let call, case .answered(let answered) = call.state, answered.operation == nil else { return false }
        return call.legs.allSatisfy { $0.newsDue == nil }
            && clients.values.allSatisfy {
                $0.offered == nil && !$0.isAsked && !$0.isAsking && $0.open == nil && $0.mail.isEmpty
            }
    }

    static func words(_ lines: [MediaDirection?]) -> String {
        lines.map { $0?.rawValue ?? "rejected" }.joined(separator: " + ")
    }
}

// MARK: What tells states apart

extension VideoExplorer {
    var key: String {
        var parts = ["\(requests)"]
        if let call, world.ended.isEmpty, case .answered(let answered) = call.state {
            parts.append(answered.operation?.word ?? "idle")
            parts += call.legs.map { leg in
                let marks = [leg.isTalkingNow, leg.isCompleted, leg.holds].map { $0 ? "1" : "0" }.joined()
                return "\(leg.party.session)\(marks)\(leg.exchange(at: world.clock.now))"
            }
        } else {
            parts.append("ended")
        }
        parts += clients.sorted { $0.key.rawValue < $1.key.rawValue }.map { "\($0.key)\($0.value.word)" }
        return parts.joined(separator: "|")
    }
}

extension VideoExplorer.Client {
    fileprivate var word: String {
        let marks = [isHolding, isFilming, isAsking, isAsked, isHeld, isAstray, isCatchingUp, isOver].map {
            $0 ? "1" : "0"
        }.joined()
        let open = open.map { "o\(Self.letters($0.lines))\($0.wasHolding ? 1 : 0)\($0.wasFilming ? 1 : 0)" } ?? ""
        let waiting = [("?", offered), ("!", invitation)].map { sign, lines in
            lines.map { sign + Self.letters($0) } ?? ""
        }.joined()
        return marks + Self.letters(lines) + Self.letters(said) + open + waiting + "\(lateness)\(putAside)"
            + mail.map(Self.word).joined()
    }

    private static func letters(_ lines: [MediaDirection?]) -> String {
        lines.map { line in
            switch line {
            case .sendReceive: "b"
            case .sendOnly: "s"
            case .receiveOnly: "r"
            case .inactive: "i"
            case nil: "x"
            }
        }.joined()
    }

    private static func word(_ news: VideoExplorer.News) -> String {
        switch news {
        case .called(let lines): "c" + letters(lines)
        case .offered(let lines): "o" + letters(lines)
        case .asked: "q"
        case .answered(let lines): "a" + letters(lines)
        case .timedOut: "t"
        case .over: "e"
        }
    }
}
