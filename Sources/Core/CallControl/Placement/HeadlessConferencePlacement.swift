/// Makes a conference of calls of an application, which has its leg of the new call already: the new call asks the
/// others for their legs.
///
///     starting ──▶ placed
package struct HeadlessConferencePlacement: Placement {
    private let call: CallID
    private let joiner: CallParty
    private let legs: [LegAddress]
    private let keepers: [CallID: UserAddress]

    /// Makes a placement of a conference.
    ///
    /// - Parameters:
    ///   - legs: the application's legs of the calls that are joined.
    ///   - keepers: its addresses in those of the calls where it is another one than `joiner` has.
    ///   - joiner: the application, as it is in the new call.
    ///   - call: the new call.
    package init(of legs: [LegAddress], keepers: [CallID: UserAddress], by joiner: CallParty, in call: CallID) {
        self.call = call
        self.joiner = joiner
        self.legs = legs
        self.keepers = keepers
    }

    /// The first actions.
    package mutating func start() -> [PlacementAction] {
        guard Set(legs.map(\.call)).count == legs.count else { return fail(.notAllowed(.join, .onlyOneCall)) }
        return [.ask(.call(call, .join(legs, CallUpdateRequest(sdp: ""), device: nil, joiner, keepers: keepers)))]
    }

    /// The next actions, given the reply to the last question.
    package mutating func handle(_ reply: PlacementReply) -> [PlacementAction] {
        do throws(CallError) {
            try reply.checkDone()
            return [.serve(call), .finish(.placed(joiner.session))]
        } catch {
            return fail(error)
        }
    }

    private func fail(_ error: CallError) -> [PlacementAction] { [.discard(call, error), .finish(.failed(error))] }
}
