import CallControl
import SDP
import SPiDR

extension CallExplorer {
    /// What a client makes of a notification.
    enum News: Hashable, Sendable {
        case called([MediaDirection?])
        case offered([MediaDirection?])
        /// It is to make an offer.
        case asked
        case answered([MediaDirection?])
        case timedOut
        /// It need not ring any more.
        case cancelled
        case over
        case failed

        init?(_ notification: Notification) throws {
            let lines = try notification.sdp.map(ScriptedDescription.directions)
            switch notification.type {
            case .call, .startCallReplace: self = .called(lines ?? [])
            case .startCallUpdate: self = lines.map { .offered($0) } ?? .asked
            case .respondCallUpdate: self = notification.outcome == .pending ? .timedOut : .answered(lines ?? [])
            case .callCancel: self = .cancelled
            case .callEnd, .sessionComplete: self = .over
            case .sessionFail: self = .failed
            default: return nil
            }
        }
    }

    /// What a client believes of its session, as RFC 8829 has it: m-lines that stay where they are, each with the
    /// direction that was agreed last. It may have a camera.
    struct Client: Hashable, Sendable {
        /// An offer of its own that waits for its answer, and what to return to.
        struct Open: Hashable, Sendable {
            let lines: [MediaDirection?]
            let wasHolding: Bool
            let wasFilming: Bool
        }

        let dialect: HoldDialect
        var seesVideo = true
        var isHolding = false
        var isFilming = false
        /// What was agreed on every m-line, as the client says it; `nil`: it is rejected.
        var lines: [MediaDirection?] = [.sendReceive]
        /// What it described last.
        var said: [MediaDirection?] = [.sendReceive]
        var open: Open?
        var isAsking = false
        /// It was rung with this.
        var invitation: [MediaDirection?]?
        var offered: [MediaDirection?]?
        var isAsked = false
        /// The other keeps it waiting.
        var isHeld = false
        /// It has not answered an offer, and does not know what holds.
        var isAstray = false
        /// Offers of its own that it has put aside for one that it was offered, whose answers are yet to come.
        var putAside = 0
        /// It has put an offer of its own aside for the one that it has to answer.
        var hasYielded = false
        /// Time-outs since it was offered something.
        var lateness = 0
        /// It was told that this is over.
        var farewells = 0
        /// It was late, and has yet to hear what came meanwhile.
        var isCatchingUp = false
        /// What it has been told and has not heard.
        var mail: [News] = []

        init(dialect: HoldDialect, seesVideo: Bool = true) {
            self.dialect = dialect
            self.seesVideo = seesVideo
        }

        /// It has something to answer.
        var isAnswering: Bool { offered != nil || isAsked }
        /// It waits for nothing, and nothing waits for it.
        var isQuiet: Bool { !isAnswering && !isAsking && open == nil && mail.isEmpty }
        /// It may ask for something.
        var isFree: Bool { !isAnswering && !isAsking && open == nil && putAside == 0 }
        /// What it answers may be another offer than the last one.
        var isBehind: Bool { lateness > 0 || isCatchingUp || mail.contains { $0.isOffer || $0 == .over } }
        /// What it wants is what was agreed last: no offer of its own waits for its answer, or was put aside.
        var knowsItsHold: Bool {
            farewells == 0 && mail.isEmpty && open == nil && putAside == 0 && !hasYielded && !isAstray && !isBehind
        }
        /// An m-line that was refused stays so.
        var mayFilm: Bool { seesVideo && (lines.count < 2 || lines[1] != nil) }

        private func wish(_ line: Int) -> MediaDirection { line == 0 || isFilming ? .sendReceive : .receiveOnly }

        /// All it has and wants; a camera that is on for the first time adds an m-line.
        func offer() -> [MediaDirection?] {
            let known = isFilming && lines.count < 2 ? lines + [.inactive] : lines
            let limit = isHolding ? dialect.hold(whileHeld: isHeld) : .sendReceive
            return known.indices.map { known[$0] == nil ? nil : wish($0).narrowed(to: limit) }
        }

        func answer(to offer: [MediaDirection?]) -> [MediaDirection?] {
            offer.enumerated().map { index, offered in
                guard let offered, index == 0 || seesVideo else { return nil }
                return dialect.answer(to: offered, holding: isHolding).narrowed(to: wish(index))
            }
        }

        /// It has answered so, and that was accepted.
        mutating func apply(_ answer: [MediaDirection?]) {
            catchUp()
            let offer = offered ?? invitation ?? []
            isHeld = offer.first??.receives == false
            (lines, said, isAstray) = (answer, answer, isAstray && !Self.leavesChoice(offer))
            (offered, invitation, lateness, hasYielded) = (nil, nil, 0, false)
        }

        /// Whether the answer to an offer says all that its sender wants, and the offer all that its own does.
        private static func leavesChoice(_ lines: [MediaDirection?]) -> Bool {
            lines.count > 1 ? lines.allSatisfy { $0 == .sendReceive } : lines.first??.sends == true
        }

        mutating func catchUp() { isCatchingUp = !mail.isEmpty && (lateness > 0 || isCatchingUp) }

        mutating func neglect() {
            catchUp()
            if offered != nil { isAstray = true }
            (offered, isAsked, lateness, hasYielded) = (nil, false, 0, false)
        }

        /// Takes what it was told first. Returns what is wrong with that, if anything is.
        mutating func hear(yields: Bool) -> String? {
            guard !mail.isEmpty else { return nil }
            let news = mail.removeFirst()
            defer { if mail.isEmpty, offered == nil { isCatchingUp = false } }
            switch news {
            case .called(let lines): invitation = lines
            case .offered(let lines):
                guard lines.count >= self.lines.count else {
                    return "is offered \(lines.count) m-lines, and has \(self.lines.count)"
                }
                if open != nil {
                    guard yields else { return nil }
                    putAside += 1
                    hasYielded = true
                }
                takeBack()
                (offered, lateness, isAsking) = (lines, 0, false)
            // Who has just made an offer need not make another one.
            case .asked where open != nil: break
            case .asked: (isAsked, lateness) = (true, 0)
            case .answered where putAside > 0: putAside -= 1
            case .answered(let answer): return conclude(answer)
            case .timedOut:
                takeBack()
                isAsking = false
            // Who has answered takes it for the news of the own answer (spidr-wire §6.6).
            case .cancelled where invitation == nil: break
            case .cancelled, .over, .failed: leave()
            }
            return nil
        }

        /// Its offer is answered. Returns what is wrong with the answer, if anything is.
        private mutating func conclude(_ answer: [MediaDirection?]) -> String? {
            guard let open else { return "is answered what it has not offered" }
            guard answer.count == open.lines.count else {
                return "has \(answer.count) m-lines answered of \(open.lines.count)"
            }
            for (offered, answered) in zip(open.lines, answer) {
                guard let answered else { continue }
                guard let offered, answered.mayAnswer(offered) else {
                    return "is answered \(answered.rawValue) to \(offered?.rawValue ?? "an m-line that is rejected")"
                }
            }
            if open.lines.first??.sends == true, let sound = answer.first, let sound { isHeld = !sound.receives }
            isAstray = isAstray && !Self.leavesChoice(open.lines)
            (lines, self.open) = (answer.map { $0?.reversed }, nil)
            return nil
        }

        private mutating func leave() {
            farewells += 1
            (offered, isAsked, isAsking, open, invitation) = (nil, false, false, nil, nil)
        }

        /// What it had offered is not so.
        private mutating func takeBack() {
            guard let open else { return }
            (isHolding, isFilming, self.open) = (open.wasHolding, open.wasFilming, nil)
        }
    }
}

extension CallExplorer.News {
    var isOffer: Bool { if case .offered = self { true } else { false } }
}
