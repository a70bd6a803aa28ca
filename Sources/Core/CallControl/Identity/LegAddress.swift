/// Where a leg is: its call, and its number there. It names the leg wherever the call's owner is.
package struct LegAddress: Hashable, Sendable {
    /// The call that the leg is part of.
    package var call: CallID
    /// The leg within that call.
    package var leg: LegID

    /// Makes an address of its parts.
    package init(call: CallID, leg: LegID) {
        self.call = call
        self.leg = leg
    }
}
