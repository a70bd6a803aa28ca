import CallControl
import CallSupport

/// What applications do.
extension CallExplorer {
    /// What an application may do, by what its leg is in.
    func applicationSteps(of name: SessionID, _ place: (call: CallID, leg: CallLeg)) -> [Step] {
        let isServing = scope.contains(.serving)
        switch place.leg.stage {
        case .ringing: return isServing ? [.accept(name), .decline(name)] : [.accept(name)]
        case .completed: return [.finish(name)]
        case .talking:
            let isCaller = Self.callers.contains(name)
            var steps: [Step] = scope.contains(.commanding) ? [.command(name)] : []
            if scope.contains(.leaving), isCaller || isServing { steps.append(.end(name)) }
            if scope.contains(.transferring), isServing, !isCaller, place.call != Self.conference, isDaveFree {
                steps.append(.hand(name))
            }
            return steps
        case .waiting, .unreached: return []
        }
    }

    /// Whether Dave can be rung: he is in no call, and has not been told that one is over.
    var isDaveFree: Bool { clients[Self.dave] == nil && place(of: Self.dave) == nil }

    /// Media of a headless leg is there only while the leg talks, and media of a call is released once. An application
    /// of which a leg is gone was told so, and is told nothing more about that leg.
    func checkApplications() throws {
        if let (call, leg) = world.toldTooMuch {
            throw ExplorationFault("\(leg) of call \(call) is headless, and is told more than its end", path)
        }
        for (id, legs) in world.headless {
            let talking = world.ended.contains(id) ? [] : world.calls[id]?.legs.filter(\.isTalkingNow).map(\.id) ?? []
            guard legs.isSubset(of: talking) else {
                throw ExplorationFault("call \(id) has media of headless legs that do not talk", path)
            }
        }
        for (id, count) in world.releases where count > 1 {
            throw ExplorationFault("media of call \(id) was released \(count) times", path)
        }
        for (id, legs) in world.applications {
            let there = world.ended.contains(id) ? [] : world.calls[id]?.legs.map(\.id) ?? []
            for leg in legs.subtracting(there) where world.finished[id]?.contains(leg) != true {
                throw ExplorationFault("\(leg) of call \(id) is headless, and was not told that it is over", path)
            }
        }
    }
}
