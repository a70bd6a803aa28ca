/// A call that another one is to replace (see `Call+Replacement.swift`).
package struct ReplacedCall: Equatable, Sendable {
    /// The target's other call.
    let call: CallID
    /// The transferor's leg in that call.
    let keeper: LegID
    /// The target's session in that call.
    let session: SessionID

    /// Makes a value of its parts; each parameter is the property of that name.
    package init(call: CallID, keeper: LegID, session: SessionID) {
        self.call = call
        self.keeper = keeper
        self.session = session
    }
}
