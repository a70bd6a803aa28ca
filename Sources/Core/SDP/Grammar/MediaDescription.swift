/// An m-line and the lines below it (RFC 8866 §5.14).
package struct MediaDescription: Equatable, Sendable {
    /// The media type token, such as `audio`.
    package var type: String
    /// 0 rejects the m-line (RFC 3264 §6) or, with `a=bundle-only`, hides it (RFC 9143 §6).
    package var port: UInt16
    /// The number of ports after the slash, if written.
    package var portCount: UInt16?
    /// The transport protocol, such as `UDP/TLS/RTP/SAVPF`.
    package var transportProtocol: String
    /// Payload types for RTP, anything else for other protocols; at least one.
    package var formats: [String]
    /// `i=`
    package var information: String?
    /// `c=`, one, or several for hierarchically encoded multicast.
    package var connections: [Connection]
    /// `b=`
    package var bandwidths: [Bandwidth]
    /// `k=`, obsolete: kept, never used.
    package var key: String?
    /// `a=`
    package var attributes: [Attribute]

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
