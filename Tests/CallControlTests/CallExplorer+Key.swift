import CallControl
import Primitives
import SDP
import TestSupport

extension CallExplorer {
    var isQuiet: Bool {
        world.messages.isEmpty && clients.values.allSatisfy(\.isQuiet)
            && world.calls.values.allSatisfy { call in
                switch call.state {
                // Nothing is offered to an application, whatever is new.
                case .answered(let answered):
                    answered.operation == nil
                        && call.legs.allSatisfy { $0.newsDue == nil || $0.party.isApplication }
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
                    case .unreached: "unreached"
                    case .talking: "talking"
                    case .completed: "completed"
                    }
                let marks = (leg.holds ? "h" : "") + (call.isTransferring(leg) ? "t" : "")
                return "\(leg.id.number)\(holder(of: leg))\(stage)\(marks)\(leg.exchange(at: world.clock.now))"
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
        parts += clients.sorted { $0.key.rawValue < $1.key.rawValue }.map { $0.rawValue + $1.word }
        if let requests { parts.append("\(requests)") }
        return parts.joined(separator: "|")
    }
}

extension CallExplorer.Client {
    /// What it described last tells states apart only where there is more than one m-line.
    fileprivate var word: String {
        let marks = [isHolding, isFilming, isAsking, isAsked, isHeld, isAstray, isCatchingUp, hasYielded].map {
            $0 ? "1" : "0"
        }
        let open = open.map { "o\(Self.letters($0.lines))\($0.wasHolding ? 1 : 0)\($0.wasFilming ? 1 : 0)" } ?? ""
        let waiting = [("?", offered), ("!", invitation)].map { sign, lines in
            lines.map { sign + Self.letters($0) } ?? ""
        }
        let described = lines.count > 1 || said.count > 1 ? Self.letters(said) : ""
        return marks.joined() + Self.letters(lines) + described + open + waiting.joined()
            + "\(farewells)\(lateness)\(putAside)" + mail.map(Self.word).joined()
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

    private static func word(_ news: CallExplorer.News) -> String {
        switch news {
        case .called(let lines): "c" + letters(lines)
        case .offered(let lines): "o" + letters(lines)
        case .asked: "q"
        case .answered(let lines): "a" + letters(lines)
        case .timedOut: "t"
        case .cancelled: "n"
        case .over: "e"
        case .failed: "f"
        }
    }
}

extension CallLeg {
    var isCompleted: Bool { if case .completed = stage { true } else { false } }
    var isTalkingNow: Bool { stage == .talking }

    /// What tells exchanges with it apart.
    func exchange(at now: MonotonicTime) -> String {
        let isSettling = exchange.settles.map { $0 > now } ?? false
        let offer =
            exchange.outstanding.map { "\($0.count)\(isSettling ? "s" : "")\($0.told?.description ?? "")" } ?? ""
        let marks = [isStable, exchange.isAsked, newsDue != nil, newsDue.map { $0 > now } ?? false].map {
            $0 ? "1" : "0"
        }.joined()
        return "[\(marks)|\(offer)|\(exchange.told?.description ?? "")|\(wishes?.description ?? "")]"
    }
}

extension Call {
    /// Whether this leg has asked for the transfer that goes on.
    fileprivate func isTransferring(_ leg: CallLeg) -> Bool {
        guard case .answered(let answered) = state, case .transfer(let transfer) = answered.operation else {
            return false
        }
        return transfer.isRepeated(by: leg.id, to: CallExplorer.daveAddress)
    }
}

extension Call.Operation {
    /// Ends with a message that is certain to come.
    var isHandover: Bool { if case .handover = self { true } else { false } }

    var word: String {
        switch self {
        case .update(let update): "update \(update.offerer.number)>\(update.answerer.number)"
        case .transfer: "transfer"
        case .consultation: "consultation"
        case .handover(let handover):
            "handover \(handover.taker) \(handover.deferred.map(\.word).joined())"
        }
    }
}

extension Call.Deferred {
    /// Every event but a replacement makes its leg leave.
    fileprivate var word: String { "\(leg.number)\(event == .replaced ? "r" : "")" }
}

extension CallWorld.Message.Content {
    var word: String {
        switch self {
        case .requested(let call, _): "requested by \(call)"
        case .offered(let handover): "offered by \(handover.from)"
        case .refused(let call): "refused by \(call)"
        case .taken(let call, _, _): "taken by \(call)"
        case .declined(let call): "declined by \(call)"
        case .legEvent(let event, let leg): "happened \(event) \(leg.number)"
        }
    }
}
