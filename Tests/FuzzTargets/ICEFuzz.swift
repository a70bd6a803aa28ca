import ICE
import Primitives
import STUN

/// Any bytes as text: the parser does not trap, and an accepted candidate survives printing and parsing.
package func fuzzCandidate(_ bytes: Span<UInt8>) {
    let text = String(decoding: [UInt8](copying: bytes), as: UTF8.self)
    guard let candidate = try? Candidate(parsing: text) else { return }  // refusing is a fine answer
    do {
        let again = try Candidate(parsing: candidate.description)
        precondition(again == candidate, "a candidate survives printing and parsing")
    } catch {
        preconditionFailure("what was printed does not parse: \(error)")
    }
}

/// The bytes as a script of checks, restarts and time: whatever happens, the agent keeps its promises.
package func fuzzICELiteAgent(_ bytes: Span<UInt8>) {
    var reader = ByteReader(bytes)
    var now = MonotonicTime(nanoseconds: 1_000_000_000_000)
    var generations: [ICEParameters] = [parameters(0)]
    var agent = ICELiteAgent(local: generations[0], configuration: .init(maximumPathCount: 3))
    var known: Set<Path> = []
    var selected: Path?
    var isLost = false

    while let step = reader.readUInt8(), let argument = reader.readUInt8() {
        let actions: [ICEAction]
        switch step % 7 {
        case 0:
            actions = agent.setRemote(ICEParameters(ufrag: "peer", password: Redacted("unused")), at: now)
        case 1:
            now = now + .milliseconds(Int(argument) * 200)
            actions = agent.timeout(at: now)
        case 2:
            generations.append(parameters(generations.count))
            let remote = argument & 1 == 0 ? nil : ICEParameters(ufrag: "peer", password: Redacted("unused"))
            actions = agent.restart(local: generations[generations.count - 1], remote: remote, at: now)
        case 3:
            actions = agent.pathClosed(path(argument), at: now)
        default:
            let used = generations[max(0, generations.count - 1 - Int(argument >> 6))]
            let raw = check(used, argument)
            guard let message = try? STUNMessage(parsing: raw.span) else { preconditionFailure("our own check parses") }
            actions = agent.receive(message, raw: raw.span, over: path(argument), at: now, authentication: FoldedTag())
        }
        for action in actions {
            switch action {
            case .pathValidated(let path): precondition(known.insert(path).inserted, "a path is validated once")
            case .pathForgotten(let path): precondition(known.remove(path) != nil, "only a known path is forgotten")
            case .selected(let path): selected = path
            case .transmit(let response, _):
                precondition((try? STUNMessage(parsing: response.span)) != nil, "answers parse")
            case .stateChanged(let state):
                precondition(state == agent.state, "one change of state per input")
                if case .failed = state { isLost = false }
            case .fragmentRetired(let ufrag):
                precondition(!agent.localFragments.contains(ufrag), "a retired fragment is gone")
            case .pathLost(let silence):
                precondition(!isLost && silence >= .zero, "a path is lost once")
                isLost = true
            case .pathRecovered:
                precondition(isLost, "what is recovered was lost")
                isLost = false
            case .refused: break
            }
        }
        precondition(known == Set(agent.validatedPaths) && known.count <= 3, "what is told is what is")
        if let path = agent.selectedPath {
            precondition(path == selected && agent.accepts(path), "the selected path is announced and valid")
        }
    }
}

/// Four over UDP, four over TCP.
private func path(_ argument: UInt8) -> Path {
    let remote = SocketAddress(IPAddress(v4: 0xC000_0201), port: 5000 + UInt16(argument & 3))
    let transport: Path.Transport =
        argument & 4 == 0 ? .udp : .tcp(ConnectionID(place: 0, generation: UInt32(argument & 3)))
    return Path(local: SocketIndex(0), remote: remote, transport: transport)
}

private func parameters(_ generation: Int) -> ICEParameters {
    ICEParameters(ufrag: "gen\(generation)", password: Redacted("password of generation \(generation)"))
}

private func check(_ used: ICEParameters, _ argument: UInt8) -> [UInt8] {
    var attributes: [STUNAttribute] = [.username("\(used.ufrag):peer"), .priority(1), .iceControlling(tieBreaker: 1)]
    if argument & 8 != 0 { attributes.append(.useCandidate) }
    if argument & 0x30 == 0x30 { attributes.append(.iceControlled(tieBreaker: 2)) }
    let message = STUNMessage(.request, .binding, TransactionID(high: 0, low: UInt64(argument)), attributes)
    return message.encoded(password: used.password.value, authentication: FoldedTag())
}
