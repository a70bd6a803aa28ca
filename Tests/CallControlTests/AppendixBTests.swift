import CallControl
import CallSupport
import TestSupport
import Testing
import SPiDR

/// The guide's tables of methods, state by state against the machine, for the caller and for the callee.
struct AppendixBTests {
    struct Cell: CustomTestStringConvertible, Sendable {
        let side: AppendixB.Side
        let state: String

        var testDescription: String { "\(side.rawValue), \(state)" }
    }

    static let cells =
        AppendixB.outgoing.map { Cell(side: .outgoing, state: $0.state) }
        + AppendixB.incoming.map { Cell(side: .incoming, state: $0.state) }

    @Test(arguments: cells)
    func `what a state allows is accepted, and anything else is refused and changes nothing`(_ cell: Cell) throws {
        for dialects in HoldTests.pairings {
            let rig = try #require(try AppendixBRig(cell.state, cell.side, dialects), "calls can be in every state")
            #expect(rig.seen.word == cell.state)
            for method in AppendixB.Method.allCases {
                var trial = rig
                let outcome = try trial.invoke(method)
                #expect(
                    outcome == AppendixB.outcome(of: method, in: cell.state, cell.side), "\(method) while \(cell.state)"
                )
                if outcome == .accepted {
                    #expect(trial.call != rig.call, "\(method) while \(cell.state) brings something about")
                } else {
                    #expect(trial.call == rig.call, "\(method) while \(cell.state) leaves the call untouched")
                }
            }
        }
    }

    @Test func `every state of the machine is in the guide's tables, and the other way round`() {
        let known = Set(LegState.allCases.map(\.word))
        let named = Set((AppendixB.outgoing + AppendixB.incoming).map(\.state))
        #expect(named == known)
    }

    @Test func `every recorded difference is one, and every method of the guide is known`() {
        for (number, difference) in AppendixB.differences.enumerated() {
            let cells = Self.cells.flatMap { cell in AppendixB.Method.allCases.map { (cell, $0) } }
            let concerned = cells.filter { cell, method in
                AppendixB.differences.firstIndex { $0.concerns(cell.side, cell.state, method) } == number
            }
            #expect(!concerned.isEmpty, "\(difference.reason)")
            for (cell, method) in concerned {
                let guide: AppendixB.Outcome =
                    AppendixB.isAvailable(method, in: cell.state, cell.side) ? .accepted : .refused
                #expect(difference.outcome != guide, "\(method) while \(cell.state) is as the guide has it")
            }
        }
        for row in AppendixB.outgoing + AppendixB.incoming where row.methods.contains(" / ") {
            for name in row.methods.split(separator: " / ") {
                #expect(AppendixB.Method(rawValue: String(name)) != nil, "\(name)")
            }
        }
    }

    /// What goes on in an answered call, and who asked for it.
    enum Open: String, CaseIterable, Sendable {
        case offerOfCaller, offerOfCallee, slowStart, firstExchange, transfer, consultation, handover

        /// Of descriptions, that the gateway can end by itself.
        var isExchange: Bool { [.offerOfCaller, .offerOfCallee, .slowStart].contains(self) }

        func outcome(isDescription: Bool) -> AppendixB.Outcome {
            switch self {
            case .offerOfCaller, .offerOfCallee, .slowStart: .accepted
            case .firstExchange: isDescription ? .refused : .pending
            case .transfer, .consultation: isDescription ? .accepted : .pending
            case .handover: .pending
            }
        }
    }

    @Test(arguments: Open.allCases)
    func `while something goes on transfers have to wait, descriptions and endCall do not`(_ open: Open) throws {
        var rig = try MidCallRig()
        var asking = AppendixBRig(rig, seenFrom: .caller)
        switch open {
        case .offerOfCaller: _ = try asking.request(.hold)
        case .offerOfCallee:
            asking = AppendixBRig(rig, seenFrom: .callee)
            _ = try asking.request(.videoStart)
        case .slowStart:
            _ = try rig.call.offer(by: .caller, CallUpdateRequest(sdp: ""), at: rig.clock.now, random: &rig.random)
            asking = AppendixBRig(rig, seenFrom: .caller)
        case .firstExchange: asking = try #require(try AppendixBRig("ANSWERING", .incoming, (.inactive, .inactive)))
        case .transfer: _ = try asking.request(.transfer)
        case .consultation: _ = try asking.request(.consultativeTransfer)
        case .handover: _ = try asking.request(.merge)
        }
        rig.call = asking.call
        for leg in [LegID.caller, .callee] {
            for method in AppendixB.Method.descriptions + [.transfer, .consultativeTransfer] {
                var trial = AppendixBRig(rig, seenFrom: leg)
                // The same once more would be a repetition, not another request.
                (trial.version, trial.consulted) = (101, CallID(10))
                let isDescription = AppendixB.Method.descriptions.contains(method)
                let outcome = try trial.invoke(method)
                #expect(outcome == open.outcome(isDescription: isDescription), "\(method) by the \(leg)")
                if outcome != .accepted { #expect(trial.call == rig.call) }
            }
            var trial = AppendixBRig(rig, seenFrom: leg)
            #expect(try trial.request(.merge) == (open.isExchange ? .accepted : .failsLater))
            trial = AppendixBRig(rig, seenFrom: leg)
            #expect(try trial.request(.endCall) == .accepted)
        }
    }

    @Test func `the document says the same`() throws { #expect(try AppendixBTests.document.fault() == nil) }
}

extension AppendixBTests {
    private static let document = ExpectedDocument(
        "call-states/appendix-b.md", title: "Methods and call states",
        [
            "Which methods of an application are available in which call state: Appendix B of the mobile SDK's guide, and where this gateway differs."
        ]
            + AppendixB.Side.allCases.map(section) + [differences])

    private static func section(_ side: AppendixB.Side) -> String {
        let rows = (side == .outgoing ? AppendixB.outgoing : AppendixB.incoming).map { row in
            let accepted = AppendixB.Method.allCases.filter { method in
                AppendixB.outcome(of: method, in: row.state, side) == .accepted
                    && !AppendixB.isAvailable(method, in: row.state, side)
            }
            return "| \(row.state) | \(row.methods) | \(accepted.map(\.rawValue).joined(separator: " / ")) |"
        }
        return (["## \(side.rawValue)", "", "| State | The guide | Here as well |", "|---|---|---|"] + rows).joined(
            separator: "\n")
    }

    private static var differences: String {
        let rows = AppendixB.differences.map { difference in
            let sides = difference.sides.count == 1 ? difference.sides[0].rawValue.lowercased() : "both"
            let methods = difference.methods.map(\.rawValue).joined(separator: " / ")
            return
                "| \(difference.states.joined(separator: ", ")) | \(sides) | \(methods) | \(difference.outcome.rawValue) | \(difference.reason) |"
        }
        let intro = """
            ## Differences

            What the guide does not list is refused with 409 and the state, and leaves the call untouched, but for the following.
            `\(AppendixB.Method.local.map(\.rawValue).joined(separator: "`, `"))` are the device's own business and send nothing.
            Numbers in brackets are sections of the wire protocol.
            """
        return ([intro, "", "| State | Side | Methods | Here | Because |", "|---|---|---|---|---|"] + rows).joined(
            separator: "\n")
    }
}
