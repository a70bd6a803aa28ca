/// The value of `a=setup` (RFC 4145 §4).
package enum SetupRole: String, Hashable, Sendable {
    case active
    case passive
    /// Offers only: the answerer chooses (RFC 5763 §5).
    case actpass
    /// No connection for now; means nothing to DTLS-SRTP.
    case holdconn
}
