import CallControl
import SDP

extension VideoExplorer {
    /// What a client makes of a notification.
    enum News: Hashable, Sendable {
        case called([MediaDirection?])
        case offered([MediaDirection?])
        /// It is to make an offer.
        case asked
        case answered([MediaDirection?])
        case timedOut
        case over

        init?(_ notification: Notification) throws {
            let lines = try notification.sdp.map(ScriptedDescription.directions)
            switch notification.type {
            case .call: self = .called(lines ?? [])
            case .startCallUpdate: self = lines.map { .offered($0) } ?? .asked
            case .respondCallUpdate: self = notification.outcome == .pending ? .timedOut : .answered(lines ?? [])
            case .callEnd, .sessionComplete: self = .over
            default: return nil
            }
        }
    }

    /// A client with a camera, and a session as RFC 8829 has it: m-lines that stay where they are, each with the direction that was agreed last.
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
        /// Time-outs since it was offered something.
        var lateness = 0
        var isOver = false
        /// It was late, and has yet to hear what came meanwhile.
        var isCatchingUp = false
        /// What it has been told and has not heard.
        var mail: [News] = []

        init(dialect: HoldDialect) { self.dialect = dialect }

        /// What it answers may be another offer than the last one.
        var isBehind: Bool {
            lateness > 0 || isCatchingUp || mail.contains { if case .offered = $0 { true } else { false } }
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
            isHeld = (offered ?? invitation)?.first??.receives == false
            // An answer to an offer that leaves no choice does not say all that it wants.
            (lines, said, isAstray) = (answer, answer, isAstray && offered?.contains { $0 != .sendReceive } == true)
            (offered, lateness) = (nil, 0)
        }

        mutating func catchUp() { isCatchingUp = !mail.isEmpty && (lateness > 0 || isCatchingUp) }

        mutating func neglect() {
            catchUp()
            if offered != nil { isAstray = true }
            (offered, isAsked, lateness) = (nil, false, 0)
        }

        /// Returns what is wrong with it, if anything is.
        mutating func hear(_ news: News, yields: Bool) -> String? {
            switch news {
            case .called(let lines): invitation = lines
            case .offered(let lines):
                guard lines.count >= self.lines.count else {
                    return "is offered \(lines.count) m-lines, and has \(self.lines.count)"
                }
                if open != nil {
                    guard yields else { return nil }
                    putAside += 1
                }
                takeBack()
                (offered, lateness, isAsking) = (lines, 0, false)
            // Who has just made an offer need not make another one.
            case .asked where open != nil: break
            case .asked: (isAsked, lateness) = (true, 0)
            case .answered where putAside > 0: putAside -= 1
            case .answered(let answer):
                guard let open else { return "is answered what it has not offered" }
                guard answer.count == open.lines.count else {
                    return "has \(answer.count) m-lines answered of \(open.lines.count)"
                }
                for (offered, answered) in zip(open.lines, answer) {
                    guard let answered else { continue }
                    guard let offered, answered.mayAnswer(offered) else {
                        return
                            "is answered \(answered.rawValue) to \(offered?.rawValue ?? "an m-line that is rejected")"
                    }
                }
                if open.lines.first??.sends == true, let sound = answer.first, let sound { isHeld = !sound.receives }
                (lines, self.open, isAstray) = (
                    answer.map { $0?.reversed }, nil, isAstray && open.lines.contains { $0 != .sendReceive }
                )
            case .timedOut:
                takeBack()
                isAsking = false
            case .over:
                if isOver { return "was told twice that it is over" }
                (isOver, offered, isAsked, invitation) = (true, nil, false, nil)
            }
            return nil
        }

        /// What it had offered is not so.
        private mutating func takeBack() {
            guard let open else { return }
            (isHolding, isFilming, self.open) = (open.wasHolding, open.wasFilming, nil)
        }
    }
}
