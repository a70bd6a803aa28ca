/// An m-line and the lines below it (RFC 8866 §5.14).
package struct MediaDescription: Equatable, Sendable {
    /// The media type token, such as `audio`.
    package var type: String
    /// The port. 0 rejects the m-line (RFC 3264 §6) or, with `a=bundle-only`, hides it (RFC 9143 §6).
    package var port: UInt16
    /// The number of ports after the slash; `nil` if it is not written.
    package var portCount: UInt16?
    /// The transport protocol, such as `UDP/TLS/RTP/SAVPF`.
    package var transportProtocol: String
    /// The formats: payload types for RTP, other tokens for other protocols; at least one.
    package var formats: [String]
    /// `i=`; `nil` if it is missing.
    package var information: String?
    /// `c=`; several are allowed for hierarchically encoded multicast.
    package var connections: [Connection]
    /// The `b=` lines.
    package var bandwidths: [Bandwidth]
    /// `k=`, obsolete; it is kept but never used.
    package var key: String?
    /// The `a=` lines.
    package var attributes: [Attribute]

    /// Makes an m-line of its parts; each parameter is the property of that name. There is no `i=`, `k=` and number of
    /// ports.
    package init(
        type: String, port: UInt16, transportProtocol: String, formats: [String], connections: [Connection] = [],
        bandwidths: [Bandwidth] = [], attributes: [Attribute] = []
    ) {
        self.type = type
        self.port = port
        self.transportProtocol = transportProtocol
        self.formats = formats
        self.connections = connections
        self.bandwidths = bandwidths
        self.attributes = attributes
    }
}
