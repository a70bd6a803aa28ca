/// The value of `a=setup` (RFC 4145 §4).
package enum SetupRole: String, Hashable, Sendable {
    /// The describing side opens the connection: it sends the ClientHello.
    case active
    /// The describing side waits for the connection.
    case passive
    /// The answerer chooses (RFC 5763 §5); in offers only.
    case actpass
    /// No connection for now; it has no meaning for DTLS-SRTP.
    case holdconn
}
