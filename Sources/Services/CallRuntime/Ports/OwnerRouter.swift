import CallControl
import Primitives
import Registration

/// How owners reach each other: by the name of what is owned, never by a reference.
///
/// In one process `OwnerTable` finds the owner. In a cluster, an owner may be on another node, and the router takes the
/// message, or the question and its reply, there; all of them are values.
protocol OwnerRouter: Sendable {
    /// Asks a call; the reply is `failed(noSuchCall)` if there is no such call.
    func ask(_ call: CallID, _ question: CallQuestion) async -> PlacementReply

    /// Asks the owner of an endpoint; `nil` if there is none.
    func ask(_ endpoint: EndpointAddress, _ question: UserQuestion) async -> PlacementReply?

    /// Sends a message to a call, and returns at once. The messages of one sender are handled in their order.
    ///
    /// - Returns: `false` if the message will not be read, because the call is gone.
    @discardableResult
    func post(_ message: CallMessage, to call: CallID) -> Bool

    /// Sends a message to the owner of an endpoint, and returns at once. The messages of one sender are handled in
    /// their order. Without such an owner nothing happens.
    ///
    /// - Returns: `false` if the message concerns nobody, because there is no such owner.
    @discardableResult
    func post(_ message: EndpointMessage, to endpoint: EndpointAddress) -> Bool

    /// The network that a guest comes from; `nil`: unknown, or the user is no guest who is here.
    func network(of guest: UserAddress) -> SourceNetwork?

    /// The name of the application that calls from this address; `nil`: none does. A user who has the address and is
    /// here comes before it.
    func application(at address: UserAddress) -> ApplicationName?

    /// The application that owns this address: calls to it reach that one, and that one alone may call from it. `nil`:
    /// none does.
    func applicationOwning(_ address: UserAddress) -> ApplicationIdentity?

    /// The endpoint that a call to this address reaches: an application, or else the user's devices. `nil` if there is
    /// neither.
    func endpoint(at address: UserAddress) -> EndpointAddress?
}

/// What the owner of a call is told by other owners.
enum CallMessage: Sendable {
    /// A device of the leg's user has come or gone.
    case deviceChanged(LegID, DeviceChange)
    /// A message of another call.
    case peerCall(PeerCallMessage)
}

/// What the owner of an endpoint is told by other owners.
enum EndpointMessage: Sendable {
    /// A fact about one of the endpoint's calls, with an audience; and the trace that the call is part of, `nil` if it
    /// is part of none.
    case tell(LoggedEvent, TraceContext?)
    /// A leg is over, or does not become part of a call.
    case detach(SessionID)
    /// A leg was answered, and does not ring any more.
    case answered(SessionID)
    /// The user of a leg talks on it from now on, also while it is on hold.
    case established(SessionID)
    /// A leg is part of another call from now on.
    case move(SessionID, to: LegAddress)
    /// A list of a leg is over, and its call does not have the leg any more. `at`: where the leg was.
    case endedLate(PlayedList, of: SessionID, at: LegAddress)
    /// The program on the stream of a leg asks the call for something.
    case streamAsks(StreamWish, SessionID)
    /// Another registration, or the owner of voice mail, tells the user something about a service.
    case service(OwedMessage)
}
