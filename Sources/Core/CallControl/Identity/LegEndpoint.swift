/// Who hears a leg of a call, and speaks for it (docs/adr/0009).
package enum LegEndpoint: Equatable, Sendable {
    /// The devices of a user, or of a guest, that have been told of the call.
    case devices([Device])
    /// An application inside the gateway. Its leg is headless, and the other legs hear this source. The identity is
    /// that of a ``RegisteredApplication``; `nil`: the gateway itself has the leg.
    case application(HeadlessSource, of: ApplicationIdentity? = nil)
}
